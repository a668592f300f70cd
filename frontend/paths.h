// Where files that belong to the compiler are found at run time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace pdg {

/// The folder named by the environment variable `variable`, else ../share/pdg/`shared` beside the
/// program, else `inSources` in the folder of the sources. The first that exists; empty if none.
std::string findSharedFolder(const char *variable, const std::string &shared,
                             const std::string &inSources);

} // namespace pdg
