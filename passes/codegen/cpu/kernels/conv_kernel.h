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

void emitGemmCall(Emitter &e, mlir::LLVM::LLVMFuncOp gemm, const GemmCall &call);

/// The symbol name of a kernel: its kind and its whole specification.
std::string convSymbolName(const char *kind, const ConvSpec &spec, const TargetInfo &target);

} // namespace pdg
