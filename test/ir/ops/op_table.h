// What the parts of the table of cases are written with.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "test/ir/ops/op_cases.h"

namespace pdg {

using Shape = std::vector<int64_t>;

inline constexpr DType kAll[] = {DType::F32, DType::F64, DType::I32,
                                 DType::I64, DType::U8,  DType::Bool};
inline constexpr DType kNumbers[] = {DType::F32, DType::F64, DType::I32, DType::I64, DType::U8};
inline constexpr DType kFloats[] = {DType::F32, DType::F64};
inline constexpr DType kInts[] = {DType::I32, DType::I64, DType::U8};
/// Types of each size in memory, and bools: enough for ops that only move elements.
inline constexpr DType kMoved[] = {DType::F32, DType::F64, DType::U8, DType::Bool};

/// Collects the cases of one op.
struct CaseMaker {
  std::string op;
  std::vector<OpCase> cases;
  size_t turn = 0; ///< Counts the calls of isTurn that decide.

  /// Loops do not depend on types: f32 and f64 have every case, others one in `count` of them.
  bool isTurn(DType dtype, size_t count) { return isFloat(dtype) || turn++ % count == 0; }

  void add(std::vector<OperandSpec> operands, const std::string &attributes = "{}",
           const std::string &batched = "") {
    cases.push_back({op, std::move(operands), attributes, batched});
  }
};

/// "array<i64: 1, 2>"
std::string list(llvm::ArrayRef<int64_t> numbers);

/// "name = 1 : i64"
std::string number(const std::string &name, int64_t value);

/// Adds the cases of an op that walks an axis in order; false if `op` is none.
bool addOrderCases(CaseMaker &m, llvm::StringRef op);

} // namespace pdg
