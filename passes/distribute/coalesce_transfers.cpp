// Groups small tensors that leave at the same place for the same role: they may share a message.
// SPDX-License-Identifier: Apache-2.0
#include "passes/distribute/check_cluster_ends.h"
#include "passes/distribute/check_cluster_memory.h"
#include "passes/passes.h"

namespace pdg {
#define GEN_PASS_DEF_COALESCETRANSFERS
#include "passes/passes.h.inc"
} // namespace pdg

using namespace mlir;

namespace pdg {
namespace {

/// True for what takes no time, so that it does not matter whether a Send is before or behind it:
/// constants, reads of variables, other forms of a value.
bool isFree(Operation &op) {
  bool isRead = op.getNumOperands() == 0 && op.getAttrOfType<NameAttr>("name");
  return isRead || isa<ViewOpInterface>(op) || op.hasTrait<OpTrait::ConstantLike>();
}

/// Groups the Sends of one block, in the order of the program. A group ends where time passes, and
/// where the role receives: a message that waits for the rest of its group then delays nobody.
class Grouping {
public:
  Grouping(int64_t limit, int64_t total, int64_t &next)
      : limit_(limit), total_(total), next_(next) {}

  void run(Block &block) {
    for (Operation &op : block) {
      auto end = dyn_cast<EdgeOpInterface>(&op);
      if (end && !end.isReceiver() && !isQueue(cast<EdgeAttr>(end.getEdgeName())))
        add(end);
      else if (!isFree(op))
        close();
    }
    close();
  }

private:
  /// Sends to one role, by whoever sends.
  using Key = std::pair<Attribute, int>;
  struct Group {
    SmallVector<EdgeOpInterface> sends;
    int64_t bytes = 0;
  };

  void add(EdgeOpInterface send) {
    auto edge = cast<EdgeAttr>(send.getEdgeName());
    auto type = cast<RankedTensorType>(send.getMessageType());
    int64_t bytes = leastBytesOf(type);
    if (!type.hasStaticShape() || bytes > limit_)
      return;
    Key key{edge.getTo(), edge.getFirst()};
    if (open_[key].bytes + bytes > total_)
      close(open_[key]);
    open_[key].sends.push_back(send);
    open_[key].bytes += bytes;
  }

  void close(Group &group) {
    if (group.sends.size() > 1) {
      for (EdgeOpInterface send : group.sends)
        send->setAttr("pdg.message",
                      IntegerAttr::get(IntegerType::get(send->getContext(), 64), next_));
      ++next_;
    }
    group = {};
  }

  void close() {
    for (auto &[key, group] : open_)
      close(group);
    open_.clear();
  }

  int64_t limit_, total_;
  int64_t &next_;
  llvm::MapVector<Key, Group> open_;
};

struct CoalesceTransfersPass : impl::CoalesceTransfersBase<CoalesceTransfersPass> {
  using CoalesceTransfersBase::CoalesceTransfersBase;

  void runOnOperation() override {
    int64_t next = 0;
    getOperation().walk<WalkOrder::PreOrder>(
        [&](Block *block) { Grouping(small, most, next).run(*block); });
  }
};

} // namespace
} // namespace pdg
