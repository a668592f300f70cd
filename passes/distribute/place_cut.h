// The cheapest cut of a graph in two: a maximum flow by Dinic's algorithm.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <limits>

namespace pdg {

/// A directed graph with a source and a sink. An edge costs its capacity when its first vertex is
/// on the source's side and its second one is not.
class MinimumCut {
public:
  using Vertex = unsigned;
  static constexpr Vertex Source = 0, Sink = 1;
  static constexpr int64_t Unlimited = std::numeric_limits<int64_t>::max() / 4;

  Vertex addVertex() {
    first_.push_back(-1);
    return first_.size() - 1;
  }
  void addEdge(Vertex from, Vertex to, int64_t capacity);
  /// Finds the cheapest cut with the fewest vertices on the source's side.
  void solve();
  bool isOnSourceSide(Vertex vertex) const { return levels_[vertex] >= 0; }

private:
  struct Edge {
    Vertex to;
    int next; ///< The next edge of the same vertex, or -1.
    int64_t capacity;
  };
  bool findLevels();
  int64_t push();

  llvm::SmallVector<int> first_ = {-1, -1};
  llvm::SmallVector<Edge, 0> edges_; ///< The edge back of edge i is i ^ 1.
  llvm::SmallVector<int, 0> levels_, current_;
};

} // namespace pdg
