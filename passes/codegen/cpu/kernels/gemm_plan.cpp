// The rule that turns sizes and target into tiles and blocks; its reasons are in the README.
// SPDX-License-Identifier: Apache-2.0
#include "passes/codegen/cpu/kernels/gemm_plan.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace pdg {

using llvm::alignTo;
using llvm::divideCeil;

constexpr int maxLeafLevels = 4; // Of at most 16 leaves; the sum of all is not saved.

static void chooseTile(GemmPlan &plan, const GemmSpec &spec, const TargetInfo &target) {
  bool wide = target.registers >= 32;
  int64_t m = std::max<int64_t>(1, spec.m.value_or(spec.usualM));
  int64_t vectors = spec.n ? std::max<int64_t>(1, divideCeil(*spec.n, plan.vl)) : 4;
  int64_t cap;
  if (m <= 4) {
    plan.nv = std::max<int64_t>(1, std::min<int64_t>(vectors, (wide ? 16 : 8) / m));
    cap = m;
  } else if (wide) {
    plan.nv = std::min<int64_t>(4, vectors);
    cap = std::array{24, 14, 8, 6}[plan.nv - 1];
  } else {
    plan.nv = std::min<int64_t>(2, vectors);
    cap = plan.nv == 2 ? 6 : 12;
  }
  // Balanced: the tiles of the rows are as equal as they can be.
  plan.mr = divideCeil(m, divideCeil(m, cap));
  plan.nr = int64_t(plan.nv) * plan.vl;
}

static void chooseBlocks(GemmPlan &plan, const GemmSpec &spec, const TargetInfo &target) {
  int64_t bytes = spec.isF64 ? 8 : 4, fullKc = 2048 / bytes;
  int64_t k = std::max<int64_t>(1, spec.k.value_or(fullKc));
  plan.kc = alignTo(divideCeil(k, divideCeil(k, fullKc)), 8);
  int64_t m = std::max<int64_t>(1, spec.m.value_or(spec.usualM));
  int64_t fullMc = std::max<int64_t>(64, target.l2Bytes / 2 / 2048);
  plan.mc = alignTo(divideCeil(m, divideCeil(m, fullMc)), plan.mr);

  plan.gatherB = spec.leafK && spec.transB;
  bool bIsLarge = !spec.n || !spec.k || *spec.n * *spec.k * bytes > target.l2Bytes;
  plan.packB = !spec.leafK && (spec.transB || bIsLarge);
  plan.packA = !spec.leafK && !spec.transA && m > plan.mc && m * k * bytes >= target.l2Bytes;
  plan.nc = std::max<int64_t>(1, (plan.packA ? 1024 : 128) / plan.nr) * plan.nr;
}

GemmPlan planGemm(const GemmSpec &spec, const TargetInfo &target) {
  GemmPlan plan;
  plan.vl = target.vectorBits / (spec.isF64 ? 64 : 32);
  chooseTile(plan, spec, target);
  chooseBlocks(plan, spec, target);

  // A transposing pack writes whole vectors of rows and so up to vl - 1 rows too far.
  int64_t packedB = plan.packB ? plan.kc * (plan.nc + plan.nr) + plan.vl * plan.nr : 0;
  int64_t packedA = plan.packA ? plan.mc * plan.packedARow() : 0;
  plan.packedAOffset = alignTo(packedB, 16);
  plan.leavesOffset = plan.packedAOffset + alignTo(packedA, 16);
  plan.workElements = plan.leavesOffset + (spec.leafK ? maxLeafLevels * plan.mr * plan.nr : 0);
  return plan;
}

int64_t gemmWorkBytes(const GemmSpec &spec, const TargetInfo &target) {
  return planGemm(spec, target).workElements * (spec.isF64 ? 8 : 4);
}

int64_t gemmRowStep(const GemmSpec &spec, const TargetInfo &target) {
  return planGemm(spec, target).mr;
}

int64_t gemmColumnStep(const GemmSpec &spec, const TargetInfo &target) {
  return planGemm(spec, target).nr;
}

GemmSplit gemmSplit(const GemmSpec &spec, const TargetInfo &target) {
  GemmPlan plan = planGemm(spec, target);
  int64_t m = spec.m.value_or(spec.usualM);
  bool columns = !spec.n || (*spec.n >= 2 * plan.nr && (plan.packB || *spec.n >= m));
  return {columns, columns ? plan.nr : plan.mr};
}

} // namespace pdg
