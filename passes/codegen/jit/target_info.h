// What generated CPU code may assume about the processor: instruction set, registers, caches.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace pdg {

/// A CPU target of the code generator. Two exist, AVX2 with FMA and AVX-512; both give the same
/// bits, so a program may carry code for either and choose when it is loaded.
struct TargetInfo {
  std::string name;          ///< "avx2" or "avx512"; part of cache keys.
  std::string cpu;           ///< LLVM's name of the processor.
  std::string features;      ///< LLVM's feature string, added to those of `cpu`.
  int vectorBits = 256;      ///< Width of a vector register.
  int registers = 16;        ///< Number of vector registers.
  int64_t l2Bytes = 1 << 20; ///< Size of the second-level cache of a core.
};

/// The target of processors with AVX2, FMA and F16C.
TargetInfo avx2Target();

/// The target of processors with AVX-512 F, BW, CD, DQ and VL.
TargetInfo avx512Target();

/// The best target that this processor runs, or a target without a name if it runs none.
TargetInfo hostTarget();

/// True if this processor runs code of `target`.
bool hostRuns(const TargetInfo &target);

} // namespace pdg
