// Which modules of the library offer a name, for suggestions about modules that are not imported.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace pdg {

/// The name "module.name" of a block of the library in `folder` with this name, letters in any
/// case; empty if there is none. Looks at the lines of the files and parses nothing.
std::string findInLibrary(const std::string &folder, std::string_view name);

} // namespace pdg
