// How to use each op: a few lines for those that are not element-wise, and the list of those that
// have no values of their own. A new op that is in neither fails OpList.HasCases.
// SPDX-License-Identifier: Apache-2.0
#include "test/ir/ops/op_table.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace pdg {

using enum DType;
std::string list(ArrayRef<int64_t> numbers) {
  std::string text = "array<i64";
  for (int64_t number : numbers)
    text += (text.size() == 9 ? ": " : ", ") + std::to_string(number);
  return text + ">";
}

std::string number(const std::string &name, int64_t value) {
  return name + " = " + std::to_string(value) + " : i64";
}

//===- Shapes and places ---------------------------------------------------===//

static void shapeCases(CaseMaker &m, std::initializer_list<std::pair<Shape, Shape>> shapes) {
  for (DType dtype : kMoved)
    for (const auto &[from, to] : shapes)
      m.add({{dtype, from}}, "{shape = " + list(to) + "}");
}

static void constantCases(CaseMaker &m) {
  for (const char *value :
       {"dense<[1.5, -0.0, 0x7FC00000, 0x00000001]> : tensor<4xf32>",
        "dense<2.5> : tensor<3x3xf64>", "dense<[0.1, -3.0]> : tensor<2xf64>",
        "dense<-7> : tensor<i32>", "dense<[[1, -9223372036854775808]]> : tensor<1x2xi64>",
        "dense<[255, 0, 128]> : tensor<3xui8>", "dense<[true, false, true]> : tensor<3xi1>",
        "dense<true> : tensor<5xi1>", "dense<> : tensor<0xf32>", "dense<200> : tensor<17xui8>"})
    m.add({}, std::string("{value = ") + value + "}");
}

static void layoutCases(CaseMaker &m, const std::string &op) {
  for (DType dtype : kMoved) {
    if (op == "slice")
      for (auto [axis, offset, size, step] : {std::tuple(0, 1, 2, 1),
                                              {0, 0, 0, 1},
                                              {1, 3, 17, 1},
                                              {1, 2, -1, 1},
                                              {2, 1, 1, 1},
                                              {0, 2, -1, 1},
                                              {1, 1, 9, 2},
                                              {1, 0, -1, 3},
                                              {2, 0, 2, 2},
                                              {0, 3, 1, 7},
                                              {0, 1, -1, 2}})
        m.add({{dtype, {4, 20, 3}}},
              "{" + number("axis", axis) + ", " + number("offset", offset) + ", " +
                  number("size", size) + ", " + number("step", step) + "}",
              axis || (size < 0 && dtype != F64) ? "b" : "");
    if (op == "pad")
      for (auto [axis, before, after, step] : {std::tuple(0, 1, 2, 1),
                                               {1, 3, 0, 1},
                                               {1, 0, 18, 1},
                                               {0, 0, 0, 1},
                                               {1, 0, 0, 2},
                                               {1, 2, 1, 5},
                                               {0, 1, 0, 3}})
        m.add({{dtype, {3, 5}}},
              "{" + number("axis", axis) + ", " + number("before", before) + ", " +
                  number("after", after) + ", " + number("step", step) + "}",
              axis ? "b" : "");
    if (op == "concat") {
      m.add({{dtype, {3, 5}}, {dtype, {2, 5}}}, "{axis = 0 : i64}");
      m.add({{dtype, {3, 5}}, {dtype, {3, 18}}}, "{axis = 1 : i64}", "bb");
      m.add({{dtype, {19}}, {dtype, {3}}}, "{axis = 0 : i64}");
      m.add({{dtype, {0, 4}}, {dtype, {2, 4}}}, "{axis = 0 : i64}");
      m.add({{dtype, {2, 3, 2}}, {dtype, {2, 0, 2}}}, "{axis = 1 : i64}");
    }
    if (op == "transpose")
      for (auto [shape, order] : {std::pair<Shape, Shape>({4, 7}, {1, 0}),
                                  {{2, 3, 5}, {2, 0, 1}},
                                  {{2, 3, 5}, {0, 2, 1}},
                                  {{33, 17}, {1, 0}},
                                  {{0, 3}, {1, 0}},
                                  {{5}, {0}}})
        m.add({{dtype, shape}}, "{permutation = " + list(order) + "}", "b");
  }
}

static void indexCases(CaseMaker &m, const std::string &op) {
  for (DType ids : kInts)
    for (DType dtype : kMoved) {
      if (ids != I64 && dtype != F32)
        continue;
      if (op == "gather") {
        m.add({{dtype, {7}}, {ids, {21}, 7}}, "{}", "-b");
        m.add({{dtype, {7, 3}}, {ids, {5}, 7}}, "{}", "-b");
        m.add({{dtype, {4, 17}}, {ids, {2, 3}, 4}}, "{}", "-b");
        m.add({{dtype, {4, 3, 2}}, {ids, {}, 4}});
        m.add({{dtype, {4, 2}}, {ids, {0}, 4}});
      }
      if (op == "pick") {
        m.add({{dtype, {5, 4}}, {ids, {5}, 4}}, "{}", "bb");
        m.add({{dtype, {18}}, {ids, {}, 18}});
        m.add({{dtype, {2, 3, 4}}, {ids, {2, 3}, 4}}, "{}", "bb");
      }
      if (op == "scatter_add" && isFloat(dtype))
        for (auto [places, row, count] : {std::tuple<Shape, Shape, int64_t>({5}, {5, 3}, 4),
                                          {{40}, {40}, 7},
                                          {{64}, {64, 2}, 90},
                                          {{512}, {512, 3}, 40},
                                          {{2, 3}, {2, 3, 4}, 5},
                                          {{}, {3}, 2},
                                          {{0}, {0, 3}, 2},
                                          {{256}, {256}, 1},
                                          {{32, 3}, {32, 3, 17}, 6},
                                          {{6}, {6, 0}, 3}})
          if (m.isTurn(ids == I64 ? dtype : ids, 3))
            m.add({{ids, places, count}, {dtype, row}}, "{" + number("count", count) + "}",
                  places.empty() ? "" : "bb");
    }
}

static void updateRowCases(CaseMaker &m) {
  for (DType dtype : {F64, U8, Bool}) {
    m.add({{dtype, {5}}, {dtype, {}}, {I64, {}, 5}});
    m.add({{dtype, {4, 19}}, {dtype, {19}}, {I64, {}, 4}});
    m.add({{dtype, {3, 2, 3}}, {dtype, {2, 3}}, {I64, {}, 3}});
  }
}

static void randomCases(CaseMaker &m) {
  for (const char *element : {"f32", "f64"})
    for (const Shape &shape : {Shape{}, {37}, {3, 5}, {0}, {2, 3, 17}}) {
      std::string text = "{path = \"a.b\", element = " + std::string(element) +
                         ", shape = " + list(shape) + ", operandSegmentSizes = array<i32: 1, ";
      m.add({{I64, {}}}, text + "0, 0>}");
      m.add({{I64, {}}, {I64, {}}, {I64, {}}}, text + "2, 0>}");
    }
}

//===- Sums, products, windows ---------------------------------------------===//

static void reductionCases(CaseMaker &m) {
  for (DType dtype : kNumbers) {
    for (const Shape &shape :
         {Shape{1}, {17}, {256}, {4, 5}, {64, 19}, {1, 33}, {33, 2, 17}, {0, 3}, {3, 0}})
      for (size_t axis = 0; axis < shape.size(); ++axis)
        if (m.isTurn(dtype, 2))
          m.add({{dtype, shape}}, "{" + number("axis", axis) + "}", "b");
    // Longer than a block of lanes; an empty first axis.
    m.add({{dtype, {4096 + 37}}}, "{axis = 0 : i64}");
    m.add({{dtype, {2, 8192 + 5}}}, "{axis = 1 : i64}");
    m.add({{dtype, {0}}}, "{axis = 0 : i64}");
  }
}

static void contractionCases(CaseMaker &m) {
  struct Rule {
    const char *rule;
    Shape lhs, rhs;
    bool leaves = false;
  };
  const Rule rules[] = {
      {"ik,kj->ij", {3, 4}, {4, 5}},
      {"ik,kj->ij", {65, 33}, {33, 19}},
      {"ki,kj->ij", {6, 3}, {6, 4}, true},
      {"ki,kj->ij", {64, 7}, {64, 18}, true},
      {"ik,jk->ij", {5, 4}, {3, 4}},
      {"ki,jk->ij", {4, 5}, {3, 4}},
      {"ik,kj->ji", {3, 4}, {4, 5}},
      {"k,k->", {5}, {5}, true},
      {"k,k->", {256}, {256}, true},
      {"i,j->ij", {3}, {4}},
      {"i,j->ji", {3}, {4}},
      {"ij,j->i", {4, 17}, {17}},
      {"i,ij->j", {4}, {4, 3}, true},
      {"bik,bkj->bij", {2, 3, 4}, {2, 4, 3}},
      {"bik,bjk->bij", {3, 2, 5}, {3, 4, 5}},
      {"ibk,kbj->bij", {3, 2, 4}, {4, 2, 3}},
      {"ijk,jkl->il", {2, 3, 4}, {3, 4, 2}},
      {"nij,nik->jk", {32, 2, 3}, {32, 2, 4}, true},
      {"ik,kj->ij", {0, 4}, {4, 5}},
      {"ik,kj->ij", {3, 0}, {0, 5}},
      {"ik,kj->ij", {1, 1}, {1, 1}},
      {"kji,kl->ijl", {3, 2, 4}, {3, 2}, true},
      {"kbi,kbj->bij", {32, 2, 3}, {32, 2, 4}, true},
      {"bki,bkj->bij", {2, 32, 3}, {2, 32, 4}, true},
      {"ij,ij->ij", {3, 4}, {3, 4}},
      {"ij,ik->ijk", {3, 2}, {3, 4}},
  };
  for (DType dtype : kFloats)
    for (const Rule &rule : rules) {
      StringRef text(rule.rule);
      StringRef right = text.slice(text.find(',') + 1, text.find('-'));
      // Axis 0 of the left operand may be a batch; then also of the right one, if it is that index.
      bool isBoth = !right.empty() && text.front() == right.front();
      std::string batched = isBoth ? "bb" : right.contains(text.front()) ? "" : "b-";
      m.add({{dtype, rule.lhs}, {dtype, rule.rhs}},
            std::string("{rule = \"") + rule.rule + "\"" + (rule.leaves ? ", leaves" : "") + "}",
            batched);
    }
}

/// Sums that go on with the chains of others: fewer leaves than there is room for, as many, one.
static void leavesCases(CaseMaker &m, const std::string &op) {
  for (DType dtype : kFloats) {
    if (op == "contract_leaves")
      for (const auto &[rule, lhs, rhs, leaves, cut] :
           {std::tuple<const char *, Shape, Shape, Shape, bool>("ki,kj->ij", {64, 7}, {64, 18},
                                                                {4, 7, 18}, true),
            {"ki,kj->ij", {96, 3}, {96, 5}, {16, 3, 5}, true},
            {"ki,kj->ij", {256, 2}, {256, 3}, {2, 2, 3}, true},
            {"ki,kj->ji", {32, 3}, {32, 4}, {2, 4, 3}, true},
            {"k,kj->j", {6}, {6, 4}, {1, 4}, true},
            {"nti,ntj->ij", {32, 3, 2}, {32, 3, 4}, {2, 2, 4}, true},
            {"kji,kl->ijl", {3, 2, 4}, {3, 2}, {1, 4, 2, 2}, true},
            {"kbi,kbj->bij", {32, 2, 3}, {32, 2, 4}, {2, 2, 3, 4}, true},
            {"bki,bkj->jib", {2, 32, 3}, {2, 32, 4}, {2, 4, 3, 2}, true},
            {"ik,kj->ij", {3, 4}, {4, 5}, {1, 3, 5}, false},
            {"ik,kj->ij", {3, 4}, {4, 5}, {4, 3, 5}, false},
            {"i,j->ij", {3}, {4}, {1, 3, 4}, false},
            {"bik,bkj->bji", {2, 3, 4}, {2, 4, 3}, {1, 2, 3, 3}, false},
            {"ki,kj->ij", {0, 2}, {0, 3}, {4, 2, 3}, true}})
        m.add({{dtype, lhs}, {dtype, rhs}, {dtype, leaves}},
              std::string("{rule = \"") + rule + "\"" + (cut ? ", isCut" : "") + "}",
              cut && rule[0] != 'b' ? "bb-" : "");
    if (op == "sum_leaves")
      for (const auto &[x, leaves] : {std::pair<Shape, Shape>({64, 19}, {4, 19}),
                                      {{96, 6}, {16, 6}},
                                      {{256, 2, 33}, {2, 2, 33}},
                                      {{8192 + 4096}, {2}},
                                      {{17}, {1}},
                                      {{512}, {16}},
                                      {{0, 3}, {2, 3}},
                                      {{3, 0}, {1, 0}}})
        m.add({{dtype, x}, {dtype, leaves}}, "{}", "b-");
    if (op == "scatter_leaves")
      for (const auto &[ids, rows, leaves, count] :
           {std::tuple<Shape, Shape, Shape, int64_t>({64}, {64, 19}, {4, 7, 19}, 7),
            {{96}, {96}, {16, 5}, 5},
            {{256, 2}, {256, 2, 3}, {2, 9, 3}, 9},
            {{}, {3}, {1, 4, 3}, 4},
            {{0}, {0, 3}, {2, 2, 3}, 2},
            {{6}, {6, 0}, {1, 3, 0}, 3}})
        m.add({{I64, ids, count}, {dtype, rows}, {dtype, leaves}}, "{}", ids.empty() ? "" : "bb-");
    if (op == "take_row")
      for (auto [x, axis] : {std::pair<Shape, int64_t>({2, 7, 3}, 1), {{5}, 0}, {{3, 2, 19}, 1}})
        for (DType ids : {I64, U8})
          m.add({{dtype, x}, {ids, {}, x[axis]}}, "{" + number("axis", axis) + "}",
                axis == 1 ? "b-" : "");
    if (op == "put_slice")
      for (auto [x, part, axis, step, limit] :
           {std::tuple<Shape, Shape, int64_t, int64_t, int64_t>({2, 7, 3}, {2, 1, 3}, 1, 1, 7),
            {{4, 19}, {4, 6}, 1, 3, 4},
            {{9, 4}, {5, 4}, 0, 1, 5},
            {{9, 4}, {5, 4}, 0, 2, 1},
            {{3, 5}, {3, 0}, 1, 1, 5},
            {{3, 5}, {3, 5}, 1, 1, 1},
            {{2, 3}, {2, 2}, 1, 1, 3}}) // The last position is outside: nothing is written.
        m.add({{dtype, x}, {dtype, part}, {I64, {}, limit}},
              "{" + number("axis", axis) + ", " + number("step", step) + "}",
              axis == 1 ? "bb-" : "");
    if (op == "join_leaves")
      for (const Shape &leaves : {Shape{1}, {2, 3}, {4, 19}, {8, 2, 3}, {16, 33}, {16, 0}})
        m.add({{dtype, leaves}});
  }
}

/// Pictures, weights and how the window moves.
struct Moves {
  Shape x, w, stride, padding, dilation = {1, 1};
  int64_t groups = 1;
};

static int64_t moved(int64_t size, int64_t window, int64_t stride, int64_t before, int64_t after,
                     int64_t dilation = 1) {
  return (size + before + after - (window - 1) * dilation - 1) / stride + 1;
}

static void convolutionCases(CaseMaker &m, const std::string &op) {
  const Moves all[] = {
      {{2, 2, 4, 5}, {3, 2, 2, 3}, {1, 1}, {0, 0, 0, 0}},
      {{1, 1, 6, 6}, {2, 1, 3, 3}, {2, 2}, {1, 1, 1, 1}},
      {{2, 1, 5, 7}, {1, 1, 3, 2}, {1, 3}, {2, 2, 0, 0}},
      {{32, 1, 4, 4}, {2, 1, 2, 2}, {1, 1}, {1, 1, 0, 0}},
      {{0, 2, 3, 3}, {2, 2, 2, 2}, {1, 1}, {0, 0, 0, 0}},
      {{3, 3, 9, 9}, {17, 3, 3, 3}, {1, 2}, {1, 1, 1, 1}},
      {{2, 1, 7, 6}, {2, 1, 3, 2}, {1, 1}, {1, 0, 0, 2}, {2, 3}},
      {{1, 2, 7, 9}, {2, 2, 2, 3}, {2, 3}, {0, 2, 3, 1}, {3, 2}},
      {{2, 4, 3, 4}, {2, 2, 2, 2}, {1, 1}, {0, 0, 0, 0}, {1, 1}, 2},
      {{2, 3, 4, 4}, {6, 1, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 3},
      {{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1}, {0, 0, 0, 0}},
      {{1, 3, 1, 40}, {2, 3, 1, 5}, {1, 2}, {0, 0, 2, 1}, {1, 2}},
      {{1, 1, 1, 5000}, {1, 1, 1, 3}, {1, 1}, {0, 0, 1, 1}},
  };
  for (DType dtype : kFloats)
    for (const auto &[x, w, stride, padding, dilation, groups] : all) {
      Shape g{x[0], w[0]};
      for (int axis : {0, 1})
        g.push_back(moved(x[2 + axis], w[2 + axis], stride[axis], padding[2 * axis],
                          padding[2 * axis + 1], dilation[axis]));
      std::string text = "stride = " + list(stride) + ", padding = " + list(padding) +
                         ", dilation = " + list(dilation) + ", " + number("groups", groups) + "}";
      if (op == "conv2d") {
        m.add({{dtype, x}, {dtype, w}}, "{" + text, "b-");
        for (const char *relu : {"", "relu, "})
          if (dtype == F32 || m.isTurn(U8, 3))
            m.add({{dtype, x}, {dtype, w}, {dtype, {w[0]}}}, "{" + (relu + text), "b--");
      }
      if (op == "conv2d_input_grad")
        m.add({{dtype, g}, {dtype, w}}, "{picture = " + list({x[2], x[3]}) + ", " + text, "b-");
      if (op == "conv2d_weight_grad")
        m.add({{dtype, x}, {dtype, g}}, "{window = " + list({w[2], w[3]}) + ", " + text, "bb");
      if (op == "conv2d_weight_leaves")
        m.add({{dtype, x}, {dtype, g}, {dtype, {x[0] == 32 ? 16 : 2, w[0], w[1], w[2], w[3]}}},
              "{window = " + list({w[2], w[3]}) + ", " + text, "bb-");
    }
}

static void poolingCases(CaseMaker &m, const std::string &op) {
  struct Pool {
    Shape x, window, stride, padding;
  };
  const Pool all[] = {
      {{2, 1, 4, 6}, {2, 2}, {2, 2}, {0, 0, 0, 0}},
      {{1, 2, 5, 5}, {3, 2}, {1, 1}, {0, 0, 0, 0}},
      {{2, 1, 5, 18}, {3, 3}, {2, 1}, {1, 1, 1, 1}},
      {{1, 1, 7, 7}, {2, 2}, {3, 3}, {1, 1, 0, 0}},
      {{0, 1, 4, 4}, {2, 2}, {2, 2}, {0, 0, 0, 0}},
      {{2, 1, 5, 7}, {2, 2}, {2, 2}, {0, 1, 1, 0}},
      {{1, 1, 4, 150}, {2, 3}, {2, 3}, {0, 0, 0, 2}},
      {{1, 1, 3, 70}, {3, 3}, {2, 2}, {1, 0, 2, 1}},
      {{1, 1, 9, 11}, {2, 2}, {5, 6}, {0, 0, 0, 0}},
      {{1, 1, 10, 12}, {9, 10}, {1, 1}, {3, 0, 0, 5}},
      {{2, 3, 1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
  };
  for (DType dtype : kFloats)
    for (const auto &[x, window, stride, padding] : all) {
      std::string text = "window = " + list(window) + ", stride = " + list(stride) +
                         ", padding = " + list(padding) + "}";
      Shape g{x[0], x[1]};
      for (int axis : {0, 1})
        g.push_back(moved(x[2 + axis], window[axis], stride[axis], padding[2 * axis],
                          padding[2 * axis + 1]));
      if (op == "max_pool2d" || op == "sum_pool2d")
        m.add({{dtype, x}}, "{" + text, "b");
      else if (op == "max_pool2d_at")
        m.add({{dtype, x}, {dtype, x}}, "{" + text, "bb");
      else if (op == "max_pool2d_grad")
        m.add({{dtype, g}, {dtype, x}}, "{" + text, "bb");
      else
        m.add({{dtype, g}}, "{picture = " + list({x[2], x[3]}) + ", " + text, "b");
    }
}

//===- The table -----------------------------------------------------------===//

/// Adds the cases of `op` (without "pdg."); false if it is not in the table.
static bool addFromTable(CaseMaker &m, const std::string &op) {
  auto isOneOf = [&](std::initializer_list<const char *> names) {
    return llvm::is_contained(names, op);
  };
  if (addOrderCases(m, op))
    return true;
  if (op == "stop_gradient") {
    for (DType dtype : {F64, Bool})
      m.add({{dtype, {3, 5}}}, "{}", "b");
  } else if (op == "cast") {
    for (DType from : {F32, F64, I32, I64, U8, Bool, BF16, F16, I8})
      for (const char *to : {"f32", "f64", "i32", "i64", "ui8", "i1", "bf16", "f16", "i8"})
        m.add({{from, {61}}}, std::string("{element = ") + to + "}",
              llvm::is_contained(kAll, from) ? "b" : "");
  } else if (op == "constant") {
    constantCases(m);
  } else if (op == "dim") {
    for (int64_t axis : {0, 1})
      m.add({{F32, {4, 5}}}, "{" + number("axis", axis) + "}", "b");
  } else if (op == "part_begin") {
    for (const char *leaves : {"", ", leaves"})
      for (auto [part, of] : {std::pair(0, 1), {1, 2}, {1, 3}, {2, 3}, {3, 4}, {7, 16}, {5, 5}})
        m.add({{I64, {}, 3000}},
              "{" + number("part", part) + ", " + number("of", of) + leaves + "}");
  } else if (op == "reshape") {
    shapeCases(m, {{{4, 6}, {3, 8}}, {{1}, {}}, {{}, {1, 1}}, {{0, 3}, {5, 0}}, {{30}, {2, 3, 5}}});
  } else if (op == "broadcast") {
    shapeCases(m, {{{5}, {3, 5}},
                   {{3, 1}, {3, 17}},
                   {{}, {4, 2}},
                   {{1}, {33}},
                   {{2, 1, 3}, {2, 5, 3}},
                   {{1, 4}, {0, 4}},
                   {{}, {}},
                   {{3}, {3}}});
  } else if (op == "iota") {
    for (const Shape &shape : {Shape{5}, {3, 17}, {2, 3, 4}, {0, 2}})
      for (size_t axis = 0; axis < shape.size(); ++axis)
        m.add({}, "{element = i64, " + number("axis", axis) + ", shape = " + list(shape) + "}");
  } else if (isOneOf({"slice", "pad", "concat", "transpose"})) {
    layoutCases(m, op);
  } else if (isOneOf({"gather", "pick", "scatter_add"})) {
    indexCases(m, op);
  } else if (op == "update_row") {
    updateRowCases(m);
  } else if (isOneOf({"random_uniform", "random_normal"})) {
    randomCases(m);
  } else if (op == "seed") {
    m.add({});
  } else if (isOneOf({"sum", "reduce_max", "reduce_min", "argmax", "argmin"})) {
    reductionCases(m);
  } else if (isOneOf({"contract_leaves", "sum_leaves", "scatter_leaves", "take_row", "put_slice",
                      "join_leaves"})) {
    leavesCases(m, op);
  } else if (op == "contract") {
    contractionCases(m);
  } else if (isOneOf(
                 {"conv2d", "conv2d_input_grad", "conv2d_weight_grad", "conv2d_weight_leaves"})) {
    convolutionCases(m, op);
  } else if (isOneOf({"max_pool2d", "max_pool2d_at", "max_pool2d_grad", "sum_pool2d",
                      "sum_pool2d_grad"})) {
    poolingCases(m, op);
  } else {
    return false;
  }
  return true;
}

bool hasNoCases(RegisteredOperationName op) {
  // What crosses from one process to another needs another process.
  if (op.hasInterface<CollectiveOpInterface>() || op.hasInterface<EdgeOpInterface>())
    return true;
  static const char *const names[] = {
      "program",  "yield", "if",     "for",     "for_each",    "fused",       "gradient",
      "variable", "read",  "assign", "input",   "source",      "source_size", "assert",
      "fetch",    "print", "part",   "replica", "loop_forever"};
  return llvm::is_contained(names, op.getStringRef().drop_front(strlen("pdg.")));
}

/// Cases of an op without attributes whose operands and result have equal sizes: whatever element
/// types its verifier takes.
static void addElementwise(CaseMaker &m, TestContext &test, RegisteredOperationName op) {
  unsigned count = op.hasTrait<OpTrait::OneOperand>()           ? 1
                   : op.hasTrait<OpTrait::NOperands<2>::Impl>() ? 2
                   : op.hasTrait<OpTrait::NOperands<3>::Impl>() ? 3
                                                                : 0;
  if (!count || !op.getAttributeNames().empty() || !op.hasInterface<ElementOpInterface>())
    return;
  for (DType first : kAll)
    for (DType rest : kAll) {
      OpCase opCase{m.op, {}, "{}", std::string(count, 'b')};
      for (unsigned i = 0; i < count; ++i)
        opCase.operands.push_back({i == 0 ? first : rest, {3}});
      if (count == 1 && first != rest)
        continue;
      ProgramBuilder program(test);
      Operation *built = program.add(opCase, "x");
      test.reports.clear();
      if (!built)
        continue;
      EXPECT_TRUE(cast<ElementOpInterface>(built).isPointwise()) << m.op << " needs a line above";
      for (const Shape &shape : {Shape{37}, {}, {3, 5}, {2, 0}}) {
        // Loops do not depend on types.
        if (shape.size() == 2 && rest != F32 && rest != Bool)
          continue;
        for (OperandSpec &operand : opCase.operands)
          operand.shape = shape;
        m.cases.push_back(opCase);
      }
    }
}

std::vector<OpCase> casesOf(TestContext &test, RegisteredOperationName op) {
  CaseMaker maker{op.getStringRef().str(), {}};
  if (!addFromTable(maker, op.getStringRef().drop_front(strlen("pdg.")).str()))
    addElementwise(maker, test, op);
  return maker.cases;
}

std::vector<OpCase> allCases(TestContext &test) {
  std::vector<OpCase> cases;
  for (RegisteredOperationName op : allOps(test.context))
    if (!hasNoCases(op))
      llvm::append_range(cases, casesOf(test, op));
  return cases;
}

} // namespace pdg
