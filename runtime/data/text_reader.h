// Text as data: windows of bytes or words, and lines. Files are streamed, unless overlapping
// windows are shuffled. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/data/reader.h"

namespace pdg {

/// An example is one field: `window` neighbouring bytes, u8[window], or with a `vocabulary` the
/// numbers of as many words, i64[window]. Windows begin every `stride` (1) tokens and do not cross
/// the ends of files. Words are what blanks and line ends separate. The vocabulary is a file with
/// one word per line, numbered from 0, where "<unk>" stands for all others; or a number n: then the
/// n - 1 most frequent words of the files have the numbers from 1 on, and 0 stands for all others.
absl::StatusOr<SourceHeader> probeText(const ReaderInput &input);
absl::StatusOr<std::unique_ptr<ExampleReader>> openText(const ReaderInput &input);

/// An example is a line, (u8[length], i64): its bytes, zeros behind them, and their number. A
/// longer line is an error.
absl::StatusOr<SourceHeader> probeLines(const ReaderInput &input);
absl::StatusOr<std::unique_ptr<ExampleReader>> openLines(const ReaderInput &input);

} // namespace pdg
