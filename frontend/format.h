// The canonical layout of scripts: `pdc fmt`.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "frontend/diagnostics.h"
#include "frontend/source.h"

#include <absl/status/statusor.h>
#include <string>
#include <string_view>

namespace pdg {

/// The longest line that a layout makes where it has a choice.
inline constexpr size_t LayoutWidth = 100;

/// The text of a file in its canonical layout. Comments stay where they were: behind a line, on a
/// line of their own, inside brackets. Laying out twice changes nothing more.
///
/// Fails with InvalidArgument if the file has syntax errors, which are then in `diagnostics`, and
/// with Internal if the layout would change the syntax tree or a comment, which a test excludes.
absl::StatusOr<std::string> formatFile(SourceManager &sources, FileId file,
                                       DiagnosticEngine &diagnostics);

/// An expression on one line, with the spaces that the canonical layout has, without comments.
/// Requires: `text` is an expression without syntax errors.
std::string formatExpression(std::string_view text);

} // namespace pdg
