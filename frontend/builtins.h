// The built-in functions: one table of name, arguments and builder.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "frontend/elaborator.h"

namespace pdg {

class BuiltinCall;

/// A function that every script knows. `signature` lists the arguments in order, optional ones with
/// a question mark: "x, axis?, keep?".
struct Builtin {
  const char *name;
  const char *signature;
  Datum (*build)(BuiltinCall &call);
  /// What it computes, with shapes and formula: a sentence or two.
  const char *doc = "";
  /// A script. Its comments, in order, are the lines that it prints; tests run it.
  const char *example = "";
};

/// One argument of a signature.
struct BuiltinParam {
  std::string name;
  bool isOptional = false;
};
std::vector<BuiltinParam> parseSignature(const char *signature);

/// The function with this name, or null.
const Builtin *findBuiltin(const std::string &name);

/// A call of a built-in function with its arguments in the order of the signature. The getters
/// report what is wrong and give null or nothing.
class BuiltinCall {
public:
  BuiltinCall(Elaborator &elaborator, const Builtin &builtin, std::vector<Operand> args, Span span)
      : elaborator(elaborator), emit(elaborator.emit), builtin(builtin), args(std::move(args)),
        span(span) {}

  Elaborator &elaborator;
  Emitter &emit;
  const Builtin &builtin;
  std::vector<Operand> args;
  Span span;

  bool has(size_t i) const { return !args[i].value.is<Nothing>(); }
  const Datum &value(size_t i) const { return args[i].value; }
  mlir::Value tensor(size_t i) { return elaborator.tensor(args[i]); }
  /// A tensor of floats; numbers become f32.
  mlir::Value floats(size_t i);
  std::optional<int64_t> integer(size_t i, int64_t otherwise);
  std::optional<bool> flag(size_t i, bool otherwise);
  std::optional<DType> type(size_t i, DType otherwise);
  /// One axis of a tensor with `rank` axes; negative ones count from the end.
  std::optional<int64_t> axis(size_t i, int64_t rank, int64_t otherwise);
  /// Axes, ascending; all if the argument is absent.
  std::optional<llvm::SmallVector<int64_t>> axes(size_t i, int64_t rank);
  Diagnostic &error(size_t i, const std::string &expected);

private:
  std::optional<int64_t> normalizeAxis(int64_t axis, int64_t rank, Span span);
};

/// Null becomes poison.
inline Datum result(mlir::Value value) { return value ? Datum(value) : Datum(Poison()); }

/// All functions by name.
const std::map<std::string, const Builtin *> &allBuiltins();

/// The diagonals of the last two axes of `x`, whose sizes are known and equal; null after an error.
mlir::Value diagonalOf(BuiltinCall &call, mlir::Value x);

// The parts of the table.
llvm::ArrayRef<Builtin> elementwiseBuiltins();
llvm::ArrayRef<Builtin> reductionBuiltins();
llvm::ArrayRef<Builtin> statisticsBuiltins();
llvm::ArrayRef<Builtin> mathBuiltins();
llvm::ArrayRef<Builtin> bitBuiltins();
llvm::ArrayRef<Builtin> shapeBuiltins();
llvm::ArrayRef<Builtin> layoutBuiltins();
llvm::ArrayRef<Builtin> orderBuiltins();
llvm::ArrayRef<Builtin> matrixBuiltins();
llvm::ArrayRef<Builtin> productBuiltins();
llvm::ArrayRef<Builtin> windowBuiltins();
llvm::ArrayRef<Builtin> randomBuiltins();

} // namespace pdg
