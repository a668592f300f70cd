// The syntax tree of a program, after names were resolved. Plain structs: every node has its place,
// children are owned, and a use of a name points to its declaration. What types and shapes a tree
// has is the business of elaboration.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "frontend/source.h"
#include <cassert>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pdg {

struct BlockStmt;
struct FileAst;
struct Expr;
struct Stmt;
using ExprPtr = std::unique_ptr<Expr>;
using StmtPtr = std::unique_ptr<Stmt>;

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

enum class DeclKind {
  Block,   // block f(...) { }
  Import,  // import nn
  Use,     // use net = f()
  Param,   // param W: ...
  State,   // state m: ...
  Let,     // let x = ...
  Var,     // var x = ...
  Const,   // const n = 3
  Input,   // input x: ...
  Data,    // data d = ...
  Arg,     // an argument of a block
  Loop,    // a variable of a `for` or of a list comprehension
  DimVar,  // a capital name in a shape: N
  TypeVar, // a capital name as element type: T
};

/// The keyword or noun by which messages name a kind: "block", "loop variable", ...
const char *declKindName(DeclKind kind);

/// A name that a program introduces. Lives inside the node that introduces it, so its address is
/// stable and serves as the identity of the name.
struct Decl {
  DeclKind kind = DeclKind::Let;
  std::string name;
  Span span; // of the name
  const BlockStmt *owner =
      nullptr; // the innermost block around it; null at the top level of a file
  const BlockStmt *block = nullptr; // kind Block: what is declared
  const FileAst *module = nullptr;  // kind Import: the file, null if the module is built in
  const struct Arg *arg = nullptr;  // kind Arg: what is declared
  const Stmt *stmt = nullptr;       // the statement around the name; null for Arg, DimVar, TypeVar
                                    // and the variable of a comprehension
  bool isBroken = false;            // kind Import: could not be loaded; its members are not known
  uint32_t reads = 0;               // uses other than as the target of an assignment
  uint32_t writes = 0;              // assignments
};

/// What `let`, `var`, `const` and `for` bind: one name, or names taken apart.
struct Pattern {
  Span span;
  Decl decl;                                      // a single name
  std::vector<std::unique_ptr<Pattern>> elements; // `(a, b)` or `[a, b]`
  bool isTuple = false;                           // written with (), not []

  bool isName() const { return elements.empty(); }
};
using PatternPtr = std::unique_ptr<Pattern>;

/// A type as it is written: `f32`, `T[N, 2 * I]`, `int`, `block`, `param`.
struct TypeSyntax {
  Span span;
  std::string name; // f32, T, int, float, bool, string, type, block, param
  Span nameSpan;
  const Decl *decl = nullptr; // a type variable or an argument of type `type`; null if built in
  bool hasBrackets = false;   // `bool` as an argument is a constant, `bool[]` a scalar tensor
  std::vector<ExprPtr> dims;

  TypeSyntax();
  TypeSyntax(TypeSyntax &&) noexcept;
  TypeSyntax &operator=(TypeSyntax &&) noexcept;
  ~TypeSyntax();

  /// True for int, float, string, type, block and, without brackets, bool.
  bool isCompileTime() const;
};

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

enum class ExprKind {
  Int,
  Float,
  Bool,
  String,
  Name,
  Member,
  Call,
  Index,
  Unary,
  Binary,
  List,
  Tuple,
  Comprehension,
  Range,
  If,
};

/// Base of all expressions. Use `as` and `dynAs` to go down.
struct Expr {
  const ExprKind kind;
  Span span;

  explicit Expr(ExprKind kind) : kind(kind) {}
  virtual ~Expr() = default;
};

/// Gives a node class its kind, so that `as<T>` can check it.
template <ExprKind K> struct ExprOf : Expr {
  static constexpr ExprKind Kind = K;
  ExprOf() : Expr(K) {}
};

/// A whole number. A minus sign directly before a number is part of it.
struct IntExpr : ExprOf<ExprKind::Int> {
  int64_t value = 0;
};

/// A number with a point or an exponent, rounded to the nearest double.
struct FloatExpr : ExprOf<ExprKind::Float> {
  double value = 0;
};

struct BoolExpr : ExprOf<ExprKind::Bool> {
  bool value = false;
};

/// A string with its escapes replaced.
struct StringExpr : ExprOf<ExprKind::String> {
  std::string value;
};

/// A name. Exactly one of `decl` and `isBuiltin` is set after resolution without errors.
struct NameExpr : ExprOf<ExprKind::Name> {
  std::string name;
  const Decl *decl = nullptr;
  bool isBuiltin = false; // a built-in function, value or element type
};

/// `base.member`. If the base is a module, the member is resolved like a name: `decl` points to the
/// block or constant, or `builtin` is its full name ("io.idx"). Otherwise both are empty and the
/// member belongs to an instance, a data source or a value.
struct MemberExpr : ExprOf<ExprKind::Member> {
  ExprPtr base;
  std::string member;
  Span memberSpan;
  const Decl *decl = nullptr;
  std::string builtin;
};

/// One argument of a call; `name` is empty for a positional one.
struct CallArg {
  Span span;
  std::string name;
  Span nameSpan;
  ExprPtr value;
};

struct CallExpr : ExprOf<ExprKind::Call> {
  ExprPtr callee;
  std::vector<CallArg> args;
};

/// `base[i, a..b, :]`; an index is any expression, a slice is a RangeExpr.
struct IndexExpr : ExprOf<ExprKind::Index> {
  ExprPtr base;
  std::vector<ExprPtr> indices;
};

enum class UnaryOp { Neg, Pos, Not };
enum class BinaryOp { Add, Sub, Mul, Div, FloorDiv, Mod, Pow, Eq, Ne, Lt, Le, Gt, Ge, And, Or };

/// How an operator is written.
const char *spelling(UnaryOp op);
const char *spelling(BinaryOp op);

struct UnaryExpr : ExprOf<ExprKind::Unary> {
  UnaryOp op = UnaryOp::Neg;
  ExprPtr operand;
};

struct BinaryExpr : ExprOf<ExprKind::Binary> {
  BinaryOp op = BinaryOp::Add;
  Span opSpan;
  ExprPtr lhs;
  ExprPtr rhs;
};

struct ListExpr : ExprOf<ExprKind::List> {
  std::vector<ExprPtr> elements;
};

struct TupleExpr : ExprOf<ExprKind::Tuple> {
  std::vector<ExprPtr> elements;
};

/// `[element for pattern in iterable]`.
struct ComprehensionExpr : ExprOf<ExprKind::Comprehension> {
  ExprPtr element;
  PatternPtr pattern;
  ExprPtr iterable; // RangeExpr or a list
};

/// `lo..hi` or `lo..=hi`, only where something is iterated or indexed. As an index both ends may be
/// left out, and `:` is the range without ends.
struct RangeExpr : ExprOf<ExprKind::Range> {
  ExprPtr lo;
  ExprPtr hi;
  bool isInclusive = false;
};

/// Statements between braces, with the place of the braces.
struct Body {
  Span span;
  std::vector<StmtPtr> stmts;

  Body();
  Body(Body &&) noexcept;
  Body &operator=(Body &&) noexcept;
  ~Body();
};

/// One `if c { }` or `else if c { }`.
struct IfArm {
  Span span;
  ExprPtr condition;
  Body body;
};

/// `if` in both roles. As a statement it is the expression of an ExprStmt; where a value is wanted,
/// the last statement of each body is an ExprStmt that gives it and there is an `else`.
struct IfExpr : ExprOf<ExprKind::If> {
  std::vector<IfArm> arms;
  std::optional<Body> elseBody;
};

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

enum class StmtKind {
  Import,
  Block,
  Use,
  Decl,
  Assign,
  Expr,
  For,
  While,
  Break,
  Continue,
  Return,
  Minimize,
  Update,
  Print,
  Eval,
  Assert,
};

/// A placement hint before a statement: `@on("ps0")`.
struct Hint {
  Span span;
  std::string name; // without the @
  std::vector<CallArg> args;
};

/// Base of all statements.
struct Stmt {
  const StmtKind kind;
  Span span;
  std::string doc; // the text of the `##` lines before it, one line each
  std::vector<Hint> hints;

  explicit Stmt(StmtKind kind) : kind(kind) {}
  virtual ~Stmt() = default;
};

template <StmtKind K> struct StmtOf : Stmt {
  static constexpr StmtKind Kind = K;
  StmtOf() : Stmt(K) {}
};

/// One module of an `import`.
struct ImportItem {
  Span span;
  std::string path;    // "nn" or, for a file beside the script, "layers.pdg"
  bool isFile = false; // written as a string
  Decl decl;           // the name it gets here
};

struct ImportStmt : StmtOf<StmtKind::Import> {
  std::vector<std::unique_ptr<ImportItem>> items;
};

/// An argument of a block. Without a type it takes any tensor.
struct Arg {
  Span span;
  Decl decl;
  std::optional<TypeSyntax> type;
  ExprPtr defaultValue; // may be null
  bool isNamed = false; // behind `*`: a call gives it by its name
};

/// `block name(args) -> results lazy { body }`.
struct BlockStmt : StmtOf<StmtKind::Block> {
  Decl decl;
  std::vector<std::unique_ptr<Arg>> args;
  bool hasResults = false; // `->` was written
  bool isTupleResult = false;
  std::vector<TypeSyntax> results;
  bool isLazy = false;
  Body body;
  /// The dimension and type variables of the header and the body, in order of appearance.
  std::vector<std::unique_ptr<Decl>> typeVars;

  /// True if the first argument is declared `param`: the block may be used after `with`.
  bool isOptimizer() const;
};

/// `use name = value`: an instance, or a list of them.
struct UseStmt : StmtOf<StmtKind::Use> {
  Decl decl;
  ExprPtr value;
};

/// `param`, `state`, `let`, `var`, `const`, `input` and `data`; `declKind` says which. Only `let`,
/// `var` and `const` may have a pattern that takes apart.
struct DeclStmt : StmtOf<StmtKind::Decl> {
  DeclKind declKind = DeclKind::Let;
  PatternPtr pattern;
  std::optional<TypeSyntax> type;
  ExprPtr init; // null for `input` and for variables without initializer

  /// The declared name. Requires: the pattern is one name.
  const Decl &decl() const { return pattern->decl; }
};

/// `target = value`; the target is a name or a member of an instance.
struct AssignStmt : StmtOf<StmtKind::Assign> {
  ExprPtr target;
  ExprPtr value;
};

/// An expression for its effect, an `if`, or the value of a body.
struct ExprStmt : StmtOf<StmtKind::Expr> {
  ExprPtr expr;
};

/// `for pattern in iterable { }` or `for counter, pattern in iterable { }`.
struct ForStmt : StmtOf<StmtKind::For> {
  PatternPtr counter; // may be null
  PatternPtr pattern;
  ExprPtr iterable; // RangeExpr, or an expression that names a data source or a list
  Body body;
};

/// `while condition max limit { }`.
struct WhileStmt : StmtOf<StmtKind::While> {
  ExprPtr condition;
  ExprPtr limit; // may be null
  Body body;
};

struct BreakStmt : StmtOf<StmtKind::Break> {};
struct ContinueStmt : StmtOf<StmtKind::Continue> {};

struct ReturnStmt : StmtOf<StmtKind::Return> {
  ExprPtr value; // may be null
};

/// `minimize loss over targets via transform with optimizer`.
struct MinimizeStmt : StmtOf<StmtKind::Minimize> {
  ExprPtr loss;
  std::vector<ExprPtr> over; // empty: every parameter on which the loss depends
  ExprPtr via;               // may be null
  ExprPtr optimizer;
};

/// `update target by gradient with optimizer`.
struct UpdateStmt : StmtOf<StmtKind::Update> {
  ExprPtr target;
  ExprPtr gradient;
  ExprPtr optimizer;
};

/// `:8.4g` in a template.
struct FormatSpec {
  std::optional<int> width;
  std::optional<int> precision;
  bool isGeneral = false; // significant digits, not decimals
};

/// Text, or a value with its format if `expr` is set.
struct TemplatePart {
  Span span;
  std::string text;
  ExprPtr expr;
  FormatSpec format;
};

/// The text of `print` and `assert`, taken apart. `print(x)` has one part, the value.
struct Template {
  Span span;
  std::vector<TemplatePart> parts;
};

struct PrintStmt : StmtOf<StmtKind::Print> {
  Template text;
};

struct EvalTarget {
  Span span;
  ExprPtr expr;
  std::string name; // after `as`, else the expression as it is written
};

struct EvalStmt : StmtOf<StmtKind::Eval> {
  std::vector<EvalTarget> targets;
};

struct AssertStmt : StmtOf<StmtKind::Assert> {
  ExprPtr condition;
  std::optional<Template> message;
};

//===----------------------------------------------------------------------===//
// Files and programs
//===----------------------------------------------------------------------===//

/// One file. `typeVars` are the dimension variables of its top level (`input x: f32[N, 784]`).
struct FileAst {
  FileId file = Span::Nowhere;
  std::string path;
  std::string module; // the name under which the library knows it; empty for a user's file
  std::vector<StmtPtr> stmts;
  std::vector<std::unique_ptr<Decl>> typeVars;
  /// Names that occur in statements which could not be parsed; they are not reported as unknown.
  std::vector<std::string> brokenNames;
};

/// A script with everything that it imports, each file once.
struct Program {
  std::vector<std::unique_ptr<FileAst>> files; // in the order of loading; the script is the first

  const FileAst &main() const { return *files.front(); }
};

/// Goes down to a node class. Requires: the node is of that class.
template <typename T, typename Node> auto &as(Node &node) {
  assert(node.kind == T::Kind && "node is of another kind");
  if constexpr (std::is_const_v<Node>)
    return static_cast<const T &>(node);
  else
    return static_cast<T &>(node);
}

/// Goes down to a node class, or returns null.
template <typename T, typename Node> auto *dynAs(Node *node) {
  using Result = std::conditional_t<std::is_const_v<Node>, const T, T>;
  return node && node->kind == T::Kind ? static_cast<Result *>(node) : nullptr;
}

} // namespace pdg
