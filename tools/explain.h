// `pdc explain`: the pages of docs/errors, one per diagnostic code.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace pdg {

/// The folder of the error pages: $PDG_ERRORS, else ../share/pdg/errors beside this program.
std::string errorPagesFolder();

/// The canonical form of what a user typed for a code ("12", "pd12" and "PD0012" are one); empty
/// if it cannot be a code.
std::string canonicalCode(const std::string &text);

/// Prints the page of `code` from `folder`, or all codes with their titles if `code` is empty.
/// Returns an exit code; an unknown code suggests the nearest one.
int explainCommand(const std::string &folder, const std::string &code);

} // namespace pdg
