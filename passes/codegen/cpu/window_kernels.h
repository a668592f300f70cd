// Kernels of ops whose window moves over pictures (ir/window_interfaces.h).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/window_interfaces.h"
#include "passes/codegen/cpu/kernel.h"

namespace pdg {

Kernel buildConvolutionKernel(ConvolveOpInterface op, KernelBuilder &k);
Kernel buildPoolingKernel(PoolOpInterface op, KernelBuilder &k);

} // namespace pdg
