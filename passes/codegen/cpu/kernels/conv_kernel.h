// What the generators of the three convolution kernels share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/codegen/cpu/kernels/conv.h"
#include "passes/codegen/cpu/kernels/emitter.h"

namespace pdg {

/// The arguments of a matrix product kernel without leaves.
struct GemmCall {
  Value a, b, c, bias, work, m0, m1, n0, n1, m, n, k;
};

/// The example and the group of a part (example, group).
std::pair<Value, Value> exampleAndGroup(Emitter &e, const ConvSpec &spec, Value part);

void emitGemmCall(Emitter &e, mlir::LLVM::LLVMFuncOp gemm, const GemmCall &call);

/// The symbol name of a kernel: its kind and its whole specification.
std::string convSymbolName(const char *kind, const ConvSpec &spec, const TargetInfo &target);

} // namespace pdg
