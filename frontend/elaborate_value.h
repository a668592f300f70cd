// What expressions give while a program is elaborated: numbers that are known when compiling,
// tensors that only the run knows, and the things that have names: blocks, instances, variables.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "frontend/ast.h"
#include "ir/dialect.h"
#include "runtime/base/dtype.h"
#include "runtime/worker/program_info.h"

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace pdg {

struct Builtin;
struct BlockValue;
struct Carried;
struct Datum;
struct Frame;
struct Instance;
struct Sequence;
struct Source;

/// A `param` or `state` of the program.
struct Variable {
  NameAttr name;
  mlir::RankedTensorType type;
  bool isParam = false;
  const Decl *decl = nullptr; ///< Its declaration.
  Span firstUse;              ///< The application of the block that fixed its shape.
  bool isOwned = false;       ///< An optimizer keeps it for a parameter.
};

/// A block that gave nothing, or an argument that is absent.
struct Nothing {};
/// The value of an expression with an error, which has been reported.
struct Poison {};

using SequencePtr = std::shared_ptr<const Sequence>;
using BlockPtr = std::shared_ptr<const BlockValue>;
using InstancePtr = std::shared_ptr<Instance>;
using CarriedPtr = std::shared_ptr<Carried>;

/// True for the types that a variant holds, exactly.
template <class T, class Variant> struct IsAlternative;
template <class T, class... Ts>
struct IsAlternative<T, std::variant<Ts...>> : std::disjunction<std::is_same<T, Ts>...> {};

/// The value of an expression. Numbers, bools and strings are known when compiling; `mlir::Value`
/// is a tensor of the run; a `Variable` is read where a tensor is needed. A `Carried` stands for a
/// tensor between the entries of a session, never while one is elaborated.
struct Datum {
  using Storage = std::variant<Nothing, Poison, int64_t, double, bool, std::string, DType,
                               mlir::Value, Variable *, SequencePtr, BlockPtr, InstancePtr,
                               const Builtin *, const Source *, CarriedPtr>;
  Storage storage;

  Datum() = default;
  template <class T>
    requires IsAlternative<T, Storage>::value
  Datum(T value) : storage(std::in_place_type<T>, std::move(value)) {}

  template <class T> const T *get() const { return std::get_if<T>(&storage); }
  template <class T> bool is() const { return std::holds_alternative<T>(storage); }
  bool isPoison() const { return is<Poison>(); }
  /// True for numbers that are known when compiling.
  bool isNumber() const { return is<int64_t>() || is<double>(); }
  bool isConstant() const { return isNumber() || is<bool>() || is<std::string>() || is<DType>(); }
};

/// A value with the place it came from, for messages.
struct Operand {
  Datum value;
  Span span;
};

/// A data source of the program.
struct Source {
  std::string symbol;
  SourceInfo info;
  std::vector<Operand> stages; ///< Blocks that each batch goes through, in order.
};

/// A tuple or a list.
struct Sequence {
  std::vector<Datum> elements;
  bool isTuple = false;

  /// The number of values in it and in the sequences in it.
  size_t count() const;
};

inline size_t Sequence::count() const {
  size_t result = elements.size();
  for (const Datum &element : elements)
    if (auto *part = element.get<SequencePtr>())
      result += (*part)->count();
  return result;
}

/// Arguments by their declaration.
using BoundArgs = std::map<const Decl *, Operand>;

/// A block as a value: with the scope around it, and perhaps some arguments already given.
struct BlockValue {
  const BlockStmt *block = nullptr;
  std::shared_ptr<Frame> scope;
  BoundArgs bound;
  std::string name; ///< As the script calls it, "nn.dense".
};

/// Placement hints, as attributes of ops, with the place of each.
using HintList = llvm::SmallVector<std::pair<mlir::NamedAttribute, Span>, 0>;

/// An instance: what `use` makes. The variables that an optimizer keeps for a parameter are those
/// of an instance too, with the parameter's path and a `statePrefix`.
struct Instance {
  BlockPtr block;
  std::string path;
  std::string statePrefix;
  Span span;
  bool isApplied = false;
  HintList hints;
  Span firstCall;
  std::vector<std::pair<const Decl *, Variable *>> variables;
  std::vector<std::pair<const Decl *, Datum>> parts; ///< Instances made by its `use`s, and lists.
};

/// The size that a dimension variable stands for.
struct BoundDim {
  mlir::AffineExpr size;
  mlir::Value tensor; ///< Axis `axis` of it has the size.
  int64_t axis = 0;
  mlir::Value scalar; ///< Is the size, instead, where it was solved from another one.
  Span span;
};

/// The names of one application of a block, or of one file.
struct Frame {
  const BlockStmt *block = nullptr;
  std::shared_ptr<Frame> scope; ///< The frame around the declaration of the block.
  InstancePtr instance;         ///< Owns the variables; null for a block without.
  std::unordered_map<const Decl *, Datum> names;
  std::unordered_map<const Decl *, BoundDim> dims;
  std::unordered_map<const Decl *, DType> types;
  std::string path; ///< Names the call for random numbers: pure text, the same in every run.
  std::map<std::string, int> calls; ///< How often what was called from here.
  int regionDepth = 0;              ///< Regions around the call; `return` must be as deep.
  bool hasReturned = false;
  Datum result;
};

} // namespace pdg
