// The bridge between the two string views: distributions build Abseil with a string_view of its
// own, which does not convert from the standard one. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <absl/strings/string_view.h>

#include <string_view>

namespace pdg {

/// Passes a standard string view to Abseil (StrCat, status messages, parsing).
inline absl::string_view toAbsl(std::string_view text) { return {text.data(), text.size()}; }

/// Takes a string view from Abseil.
inline std::string_view toStd(absl::string_view text) { return {text.data(), text.size()}; }

} // namespace pdg
