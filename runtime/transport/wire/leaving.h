// When memory that is being sent may be changed again. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace pdg {

/// Payloads on their way out of memory that somebody wants to change again.
class Leaving {
public:
  /// Says that `parts` payloads will leave. Requires: none is leaving.
  void begin(int parts) { parts_.store(parts); }

  /// Says whether all have left. If not, the last one will be announced.
  bool isDone() {
    if (parts_.load() == 0)
      return true;
    isAwaited_.store(true);
    return parts_.load() == 0;
  }

  /// Says that one has left. Returns whether somebody has to be told that it was the last.
  bool end() { return parts_.fetch_sub(1) == 1 && isAwaited_.exchange(false); }

private:
  // Sequentially consistent: either isDone sees the last end, or that sees that it is awaited.
  std::atomic<int> parts_ = 0;
  std::atomic<bool> isAwaited_ = false;
};

} // namespace pdg
