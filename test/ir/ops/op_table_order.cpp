// Cases of ops that walk an axis in order: scans, sorting, reading and writing at indices.
// SPDX-License-Identifier: Apache-2.0
#include "test/ir/ops/op_table.h"

using namespace mlir;

namespace pdg {

/// Shapes of rank 1 to 5, with sizes 0 and 1, odd ones, and lines longer than a vector.
static const Shape kShapes[] = {{1}, {0}, {5}, {37}, {4, 3}, {1, 19}, {0, 3}, {3, 0}, {2, 5, 18}};

static void scanCases(CaseMaker &m, StringRef op) {
  for (DType dtype : kNumbers)
    for (const Shape &shape : kShapes)
      for (size_t axis = 0; axis < shape.size(); ++axis)
        for (const char *flags : {"", ", reverse", ", exclusive", ", exclusive, reverse"}) {
          bool isLinear = op == "linear_scan";
          // An odd count, so that each flag has its turn.
          if ((isLinear && StringRef(flags).contains("exclusive")) || !m.isTurn(dtype, 5))
            continue;
          // Gradients of scans need to know the size of their axis.
          bool isBatched = axis > 0;
          std::vector<OperandSpec> operands(isLinear ? 2 : 1, {dtype, shape});
          m.add(operands, "{" + number("axis", axis) + flags + "}",
                isBatched ? std::string(operands.size(), 'b') : "");
        }
  m.add({{DType::F32, {2, 3, 1, 2, 2}}, {DType::F32, {2, 3, 1, 2, 2}}}, "{axis = 1 : i64}", "bb");
  if (op != "linear_scan")
    m.cases.back().operands.pop_back(), m.cases.back().batched = "b";
}

static void sortCases(CaseMaker &m) {
  for (DType dtype : kAll)
    for (const Shape &shape :
         {Shape{1}, {0}, {2}, {3}, {64}, {1000}, {4, 3}, {19, 5}, {0, 3}, {3, 0}, {2, 3, 1, 2, 3}})
      for (size_t axis = 0; axis < shape.size(); ++axis)
        for (const char *flags : {"", ", descending"})
          if (m.isTurn(dtype, 3))
            m.add({{dtype, shape}}, "{" + number("axis", axis) + flags + "}", "b");
}

static void alongCases(CaseMaker &m, StringRef op) {
  struct Case {
    Shape x, ids;
    int64_t axis;
  };
  const Case all[] = {
      {{5}, {5}, 0},        {{7}, {40}, 0},
      {{4, 3}, {6, 3}, 0},  {{4, 3}, {4, 1}, 1},
      {{4, 3}, {4, 20}, 1}, {{3, 2}, {0, 2}, 0},
      {{1, 3}, {1, 3}, 1},  {{2, 4, 3}, {2, 6, 3}, 1},
      {{0, 4}, {0, 2}, 1},  {{3, 17}, {2, 17}, 0},
      {{0}, {0}, 0},        {{2, 1, 3, 1, 2}, {2, 1, 2, 1, 2}, 2},
  };
  for (DType dtype : kAll)
    for (DType ids : kInts)
      for (const auto &[x, places, axis] : all) {
        if (ids != DType::I64 && dtype != DType::F32)
          continue;
        if ((op == "add_along" && dtype == DType::Bool) ||
            !m.isTurn(ids == DType::I64 ? dtype : ids, 3))
          continue;
        std::vector<OperandSpec> operands{{dtype, x}, {ids, places, x[axis]}};
        if (op != "take_along")
          operands.push_back({dtype, places});
        m.add(operands, "{" + number("axis", axis) + "}",
              axis > 0 ? std::string(operands.size(), 'b') : "");
      }
}

static void flipCases(CaseMaker &m) {
  for (DType dtype : kMoved)
    for (const Shape &shape : kShapes)
      for (size_t axis = 0; axis < shape.size(); ++axis)
        m.add({{dtype, shape}}, "{" + number("axis", axis) + "}", "b");
}

bool addOrderCases(CaseMaker &m, StringRef op) {
  if (op == "cumsum" || op == "cumprod" || op == "linear_scan")
    scanCases(m, op);
  else if (op == "argsort")
    sortCases(m);
  else if (op == "take_along" || op == "put_along" || op == "add_along")
    alongCases(m, op);
  else if (op == "flip")
    flipCases(m);
  else
    return false;
  return true;
}

} // namespace pdg
