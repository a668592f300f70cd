// The progress bar of a run: steps, rate, remaining time of the pass and the last printed loss.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace pdg {

/// One line that is drawn over itself. Does nothing unless made for a terminal. Not thread-safe.
class Progress {
public:
  /// Where the bar goes and what time it is there, in seconds; tests bring their own.
  struct Terminal {
    std::function<void(std::string_view)> write;
    std::function<double()> now;
    int columns = 80;
    bool hasColors = false;
  };

  /// A bar that is never shown.
  Progress() = default;

  /// A bar on `terminal`.
  explicit Progress(Terminal terminal);

  /// A bar on standard error if that is a terminal that can redraw a line and `isQuiet` is not set.
  /// Without colours if $NO_COLOR is set and not empty.
  static Progress onStandardError(bool isQuiet);

  /// Begins a pass of `steps` steps over the source `name`.
  void beginPass(const std::string &name, int64_t steps);

  /// Counts a step. Draws the bar, but at most ten times a second.
  void step();

  /// Shows `loss` from the next drawing on.
  void setLoss(std::string_view loss);

  /// Takes the bar off the screen, so that a line can be printed in its place.
  void clear();

private:
  void draw(double now);

  bool isShown_ = false;
  Terminal terminal_;
  bool isDrawn_ = false;
  double drawnAt_ = 0;
  double begunAt_ = 0;
  int64_t step_ = 0;
  int64_t steps_ = 0;
  std::string name_;
  std::string loss_;
  std::string line_;
};

} // namespace pdg
