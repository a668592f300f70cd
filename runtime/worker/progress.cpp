// Draws the progress bar with the two control sequences that every terminal knows.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/worker/progress.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <sys/ioctl.h>
#include <unistd.h>

namespace pdg {

namespace {

constexpr double kRedrawInterval = 0.1;
constexpr int kBarWidth = 24;
constexpr std::string_view kEraseLine = "\r\x1b[K";
constexpr std::string_view kBarColor = "\x1b[36m", kNoColor = "\x1b[0m";

double secondsNow() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool isSet(const char *variable) {
  const char *value = std::getenv(variable);
  return value && *value;
}

template <typename... Args> void append(std::string &line, const char *format, Args... args) {
  char buffer[96];
  int length = std::snprintf(buffer, sizeof(buffer), format, args...);
  line.append(buffer, std::min(static_cast<size_t>(length), sizeof(buffer) - 1));
}

// "0:07", "12:34", "1:02:03".
void appendDuration(std::string &line, double seconds) {
  long long total = std::llround(std::min(seconds, 1e9));
  if (total >= 3600)
    append(line, "%lld:%02lld:%02lld", total / 3600, total / 60 % 60, total % 60);
  else
    append(line, "%lld:%02lld", total / 60, total % 60);
}

} // namespace

Progress::Progress(Terminal terminal) : isShown_(true), terminal_(std::move(terminal)) {
  line_.reserve(512);
  loss_.reserve(64);
}

Progress Progress::onStandardError(bool isQuiet) {
  const char *kind = std::getenv("TERM");
  if (isQuiet || !isatty(STDERR_FILENO) || !kind || std::string_view(kind) == "dumb")
    return Progress();
  Terminal terminal;
  terminal.write = [](std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
  };
  terminal.now = secondsNow;
  winsize size = {};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    terminal.columns = size.ws_col;
  terminal.hasColors = !isSet("NO_COLOR");
  return Progress(std::move(terminal));
}

void Progress::beginPass(const std::string &name, int64_t steps) {
  if (!isShown_)
    return;
  name_ = name;
  steps_ = steps;
  step_ = 0;
  begunAt_ = terminal_.now();
}

void Progress::step() {
  if (!isShown_)
    return;
  ++step_;
  double now = terminal_.now();
  // The first bar waits too: a run that is over at once never shows one.
  if (now - std::max(drawnAt_, begunAt_) >= kRedrawInterval)
    draw(now);
}

void Progress::setLoss(std::string_view loss) {
  if (isShown_)
    loss_ = loss;
}

void Progress::clear() {
  if (!isDrawn_)
    return;
  terminal_.write(kEraseLine);
  isDrawn_ = false;
}

void Progress::draw(double now) {
  drawnAt_ = now;
  isDrawn_ = true;
  double rate = static_cast<double>(step_) / std::max(now - begunAt_, 1e-9);
  int64_t steps = std::max(steps_, step_);
  int filled = static_cast<int>(kBarWidth * step_ / std::max<int64_t>(steps, 1));

  line_ = name_;
  line_ += " [";
  size_t barBegin = line_.size();
  line_.append(static_cast<size_t>(filled), '=')
      .append(static_cast<size_t>(kBarWidth - filled), ' ');
  size_t barEnd = line_.size();
  append(line_, "] %lld/%lld  %.*f steps/s  ", static_cast<long long>(step_),
         static_cast<long long>(steps), rate < 10 ? 1 : 0, rate);
  appendDuration(line_, static_cast<double>(steps - step_) / rate);
  line_ += " left";
  if (!loss_.empty())
    line_.append("  loss ").append(loss_);
  // A line that wraps could not be erased. The last column stays free for the cursor.
  line_.resize(std::min(line_.size(), static_cast<size_t>(std::max(terminal_.columns - 1, 1))));
  if (terminal_.hasColors && line_.size() >= barEnd) {
    line_.insert(barEnd, kNoColor);
    line_.insert(barBegin, kBarColor);
  }
  line_.insert(0, kEraseLine);
  terminal_.write(line_);
}

} // namespace pdg
