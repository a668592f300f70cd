// Dinic, "Algorithm for solution of a problem of maximum flow in networks", 1970.
// SPDX-License-Identifier: Apache-2.0
#include "passes/distribute/place_cut.h"

#include <algorithm>

namespace pdg {

void MinimumCut::addEdge(Vertex from, Vertex to, int64_t capacity) {
  if (from == to)
    return;
  edges_.push_back({to, first_[from], capacity});
  first_[from] = edges_.size() - 1;
  edges_.push_back({from, first_[to], 0});
  first_[to] = edges_.size() - 1;
}

/// How many edges each vertex is away from the source; false if the sink cannot be reached.
bool MinimumCut::findLevels() {
  levels_.assign(first_.size(), -1);
  levels_[Source] = 0;
  llvm::SmallVector<Vertex, 0> queue = {Source};
  for (size_t i = 0; i < queue.size(); ++i)
    for (int e = first_[queue[i]]; e >= 0; e = edges_[e].next)
      if (edges_[e].capacity > 0 && levels_[edges_[e].to] < 0) {
        levels_[edges_[e].to] = levels_[queue[i]] + 1;
        queue.push_back(edges_[e].to);
      }
  return levels_[Sink] >= 0;
}

/// Pushes as much as one path takes; 0: there is none left among these levels.
int64_t MinimumCut::push() {
  llvm::SmallVector<int, 0> path;
  Vertex at = Source;
  while (at != Sink) {
    int &e = current_[at];
    while (e >= 0 && (edges_[e].capacity == 0 || levels_[edges_[e].to] != levels_[at] + 1))
      e = edges_[e].next;
    if (e >= 0) {
      path.push_back(e);
      at = edges_[e].to;
    } else if (path.empty()) {
      return 0;
    } else {
      // A dead end: the edge that led here is used up.
      int back = path.pop_back_val();
      at = edges_[back ^ 1].to;
      current_[at] = edges_[back].next;
    }
  }
  int64_t amount = Unlimited;
  for (int e : path)
    amount = std::min(amount, edges_[e].capacity);
  for (int e : path) {
    edges_[e].capacity -= amount;
    edges_[e ^ 1].capacity += amount;
  }
  return amount;
}

void MinimumCut::solve() {
  while (findLevels()) {
    current_.assign(first_.begin(), first_.end());
    while (push())
      ;
  }
}

} // namespace pdg
