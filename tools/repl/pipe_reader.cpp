// Lines from a pipe or a file.
// SPDX-License-Identifier: Apache-2.0
#include "tools/repl/line_reader.h"

#include <iostream>

namespace pdg {
namespace {

class PipeReader final : public LineReader {
public:
  Result read(const std::string &, std::string &line) override {
    if (takePutBack(line))
      return Result::Line;
    if (!std::getline(std::cin, line))
      return Result::End;
    if (line.ends_with('\r'))
      line.pop_back();
    return Result::Line;
  }

  // Only the end of the text ends an entry whose brackets are open.
  bool hasMore() override { return true; }
  bool isInteractive() const override { return false; }
};

} // namespace

std::unique_ptr<LineReader> makePipeReader() { return std::make_unique<PipeReader>(); }

} // namespace pdg
