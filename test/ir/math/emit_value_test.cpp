// Emitted code and plain numbers give the same bits, for every function and kind, on scalars and
// on vectors, with AVX2 and with AVX-512.
// SPDX-License-Identifier: Apache-2.0
#include "ir/math/functions.h"
#include "test/ir/math/element_kernel.h"

#include <gtest/gtest.h>

namespace pdg::test {
namespace {

#ifdef PDG_SLOW_TESTS
constexpr size_t kCount = 1 << 17;
#else
constexpr size_t kCount = 1 << 14;
#endif

/// One function of one kind at one width: how to emit it and how to check it when compiled.
struct Case {
  std::string name;
  std::function<void(KernelJit &)> emit;
  std::function<void(KernelJit &)> check;
};

template <class T, class Result> void report(size_t i, T x, T y, Result got, Result expected) {
  if constexpr (std::is_floating_point_v<T>)
    ADD_FAILURE() << "element " << i << ": operands " << std::hexfloat << x << ", " << y
                  << ": emitted " << +got << ", plain " << +expected;
  else
    ADD_FAILURE() << "element " << i << ": operands " << +x << ", " << +y << ": emitted " << +got
                  << ", plain " << +expected;
}

template <class T, class Function>
void checkKernel(KernelJit &jit, const std::string &name, Function function) {
  SCOPED_TRACE(name + " on " + jit.target().name);
  using Result = decltype(function(Scalar<T>{}, Scalar<T>{}).value);
  static const std::vector<T> xs = testOperands<T>(kCount, 0), ys = testOperands<T>(kCount, 1);
  // Bools are bytes in memory; std::vector<bool> has none.
  using Stored = std::conditional_t<std::is_same_v<Result, bool>, uint8_t, Result>;
  std::vector<Stored> results(kCount);
  jit.lookup<ElementKernel>(name)(xs.data(), ys.data(), results.data(), kCount);
  int failures = 0;
  for (size_t i = 0; i < kCount && failures < 5; ++i) {
    Stored expected = function(Scalar<T>{xs[i]}, Scalar<T>{ys[i]}).value;
    if (!sameBits(results[i], expected)) {
      ++failures;
      report(i, xs[i], ys[i], results[i], expected);
    }
  }
}

/// Collects cases, compiles them as one module for each target and checks them.
class Cases {
public:
  /// Adds `function` on T: on scalars, and on vectors of one or more registers.
  template <class T, class Function> void add(const std::string &name, Function function) {
    using Result = decltype(function(Scalar<T>{}, Scalar<T>{}).value);
    for (int width : {1, 16}) {
      std::string symbol =
          name + "_" + std::to_string(static_cast<int>(elemOf<T>())) + "_x" + std::to_string(width);
      cases_.push_back({symbol,
                        [=](KernelJit &jit) {
                          emitElementKernel(jit, symbol, elemOf<T>(), elemOf<Result>(), width,
                                            [=](Emitted x, Emitted y) { return function(x, y); });
                        },
                        [=](KernelJit &jit) { checkKernel<T>(jit, symbol, function); }});
    }
  }

  template <class Function> void addFloats(const std::string &name, Function function) {
    add<float>(name, function);
    add<double>(name, function);
  }

  template <class Function> void addInts(const std::string &name, Function function) {
    add<int32_t>(name, function);
    add<int64_t>(name, function);
    add<uint8_t>(name, function);
  }

  void run() {
    auto targets = testedTargets();
    if (targets.empty())
      GTEST_SKIP() << "this processor runs no target";
    for (const TargetInfo &target : targets) {
      KernelJit jit(target);
      for (const Case &each : cases_)
        each.emit(jit);
      jit.compile();
      for (const Case &each : cases_)
        each.check(jit);
    }
  }

private:
  std::vector<Case> cases_;
};

TEST(EmitValue, BasicOperatorsOnFloats) {
  Cases cases;
  cases.addFloats("add", [](auto x, auto y) { return x + y; });
  cases.addFloats("sub", [](auto x, auto y) { return x - y; });
  cases.addFloats("mul", [](auto x, auto y) { return x * y; });
  cases.addFloats("div", [](auto x, auto y) { return x / y; });
  cases.addFloats("mul_then_add", [](auto x, auto y) { return x * y + x; });
  cases.addFloats("fma", [](auto x, auto y) { return fma(x, y, x); });
  cases.addFloats("maximum", [](auto x, auto y) { return maximum(x, y); });
  cases.addFloats("minimum", [](auto x, auto y) { return minimum(x, y); });
  cases.addFloats("rounded", [](auto x, auto y) {
    return select(y < 0.0, select(x < 0.0, floor(x), ceil(x)),
                  select(y > x, trunc(x), roundEven(x)));
  });
  cases.addFloats("signs", [](auto x, auto y) { return copysign(-x, y) + abs(y); });
  cases.addFloats("sqrt", [](auto x, auto y) { return sqrt(x); });
  cases.addFloats("less", [](auto x, auto y) { return x < y; });
  cases.addFloats("equal", [](auto x, auto y) { return (x == y) | !(x >= y); });
  cases.addFloats("unequal", [](auto x, auto y) { return (x != y) & (x <= y); });
  cases.addFloats("floor_div", [](auto x, auto y) { return floorDiv(x, y); });
  cases.addFloats("floor_mod", [](auto x, auto y) { return floorMod(x, y); });
  cases.run();
}

TEST(EmitValue, BasicOperatorsOnInts) {
  Cases cases;
  cases.addInts("ring", [](auto x, auto y) { return (x + y) * x - (y & x) + (x ^ ~y) - (x | 5); });
  cases.addInts("shift", [](auto x, auto y) { return (x >> 3) + (y << 2) + -x + abs(y); });
  cases.addInts("maximum", [](auto x, auto y) { return maximum(x, y) - minimum(x, y); });
  cases.addInts("less", [](auto x, auto y) { return x < y; });
  cases.addInts("floor_div", [](auto x, auto y) { return floorDiv(x, y); });
  cases.addInts("floor_mod", [](auto x, auto y) { return floorMod(x, y); });
  cases.addInts("shifts", [](auto x, auto y) { return shiftLeft(x, y) ^ shiftRight(y, x); });
  cases.addInts("pow", [](auto x, auto y) { return powInt(x, y); });
  cases.run();
}

template <class T> void addCasts(Cases &cases) {
  cases.add<T>("to_f32", [](auto x, auto) { return cast<Elem::F32>(x); });
  cases.add<T>("to_f64", [](auto x, auto) { return cast<Elem::F64>(x); });
  cases.add<T>("to_i32", [](auto x, auto) { return cast<Elem::I32>(x); });
  cases.add<T>("to_i64", [](auto x, auto) { return cast<Elem::I64>(x); });
  cases.add<T>("to_u8", [](auto x, auto) { return cast<Elem::U8>(x); });
  cases.add<T>("to_bool", [](auto x, auto) { return cast<Elem::Bool>(x); });
  cases.add<T>("mask_to_f32", [](auto x, auto y) { return cast<Elem::F32>(x < y); });
}

TEST(EmitValue, Casts) {
  Cases cases;
  addCasts<float>(cases);
  addCasts<double>(cases);
  addCasts<int32_t>(cases);
  addCasts<int64_t>(cases);
  addCasts<uint8_t>(cases);
  cases.run();
}

TEST(EmitValue, ElementaryFunctions) {
  Cases cases;
  cases.addFloats("exp", [](auto x, auto) { return exp(x); });
  cases.addFloats("expm1", [](auto x, auto) { return expm1(x); });
  cases.addFloats("sigmoid", [](auto x, auto) { return sigmoid(x); });
  cases.addFloats("tanh", [](auto x, auto) { return tanh(x); });
  cases.addFloats("log", [](auto x, auto) { return log(x); });
  cases.addFloats("log1p", [](auto x, auto) { return log1p(x); });
  cases.addFloats("erf", [](auto x, auto) { return erf(x); });
  cases.addFloats("rsqrt", [](auto x, auto) { return rsqrt(x); });
  cases.addFloats("pow", [](auto x, auto y) { return pow(x, y); });
  cases.addFloats("pow_5", [](auto x, auto) { return powConstant(x, 5); });
  cases.addFloats("pow_minus_2", [](auto x, auto) { return powConstant(x, -2); });
  cases.addFloats("sin", [](auto x, auto) { return sin(x); });
  cases.addFloats("cos", [](auto x, auto) { return cos(x); });
  cases.addFloats("tan", [](auto x, auto) { return tan(x); });
  cases.addFloats("asin", [](auto x, auto) { return asin(x); });
  cases.addFloats("acos", [](auto x, auto) { return acos(x); });
  cases.addFloats("atan2", [](auto x, auto y) { return atan2(x, y); });
  cases.addFloats("sinh", [](auto x, auto) { return sinh(x); });
  cases.addFloats("cosh", [](auto x, auto) { return cosh(x); });
  cases.addFloats("asinh", [](auto x, auto) { return asinh(x); });
  cases.addFloats("acosh", [](auto x, auto) { return acosh(x); });
  cases.addFloats("atanh", [](auto x, auto) { return atanh(x); });
  cases.addFloats("log2", [](auto x, auto) { return log2(x); });
  cases.addFloats("log10", [](auto x, auto) { return log10(x); });
  cases.addFloats("exp2", [](auto x, auto) { return exp2(x); });
  cases.run();
}

} // namespace
} // namespace pdg::test
