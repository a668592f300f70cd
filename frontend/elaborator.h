// The walk over the syntax tree that builds the program; private to elaborate*.cpp and
// builtins*.cpp. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "frontend/elaborate.h"
#include "frontend/elaborate_emit.h"
#include "frontend/elaborate_value.h"

#include <set>

namespace pdg {

struct Reader;
struct SourceHeader;

/// Elaborates one program. Files by topic:
///   elaborate.cpp           entry, frames, names
///   elaborate_convert.cpp   from values of expressions to tensors and constants;
///                           elaborate_list.cpp: from lists
///   elaborate_types.cpp     written types; elaborate_sizes.cpp: their sizes
///   elaborate_expr.cpp      expressions
///   elaborate_operators.cpp operators on tensors; elaborate_fold.cpp: on constants
///   elaborate_index.cpp     indices and slices
///   elaborate_stmt.cpp      statements; elaborate_hints.cpp: their placement hints
///   elaborate_control.cpp   if; elaborate_loop.cpp: for; elaborate_unroll.cpp: which are unrolled;
///                           elaborate_jump.cpp: while, break and continue
///   elaborate_call.cpp      application; elaborate_args.cpp: arguments of blocks
///   elaborate_check.cpp     blocks that are never applied
///   elaborate_instance.cpp  use, param, state
///   elaborate_optimize.cpp  minimize, update, grad
///   elaborate_output.cpp    print, eval, assert; elaborate_data.cpp: input, const;
///                           elaborate_source.cpp: data
///   elaborate_session.cpp   entries of a session; elaborate_session_show.cpp: bare expressions
class Elaborator {
public:
  Elaborator(const Program &program, const SourceManager &sources, DiagnosticEngine &diagnostics,
             mlir::MLIRContext &context, const ElaborateOptions &options);

  mlir::OwningOpRef<mlir::ModuleOp> run();

  Emitter emit;

  //===- Conversion (elaborate_convert.cpp) --------------------------------===//

  /// What a message calls a value: "the number 3", "a tensor f32[N, 10]".
  std::string describe(const Datum &value);
  /// Reads variables, also inside sequences: the value at this place of the program.
  Datum readAll(const Datum &value, Span span);
  /// A tensor; numbers become i64, f32 or bool constants. Null after an error.
  mlir::Value tensor(const Operand &operand);
  /// A tensor of element type `dtype`: numbers take it, integers widen to it.
  mlir::Value tensorOf(const Operand &operand, DType dtype);
  /// A tensor of exactly `type`; numbers fill it. `what` is where it goes, for the message.
  mlir::Value tensorOf(const Operand &operand, mlir::RankedTensorType type,
                       const std::string &what);
  /// A number as a scalar constant of `dtype`; null, with an error, if it does not fit.
  mlir::Value numberConstant(const Operand &operand, DType dtype);
  /// A whole number that is known when compiling.
  std::optional<int64_t> constantInt(const Operand &operand, const std::string &what);
  std::optional<double> constantFloat(const Operand &operand, const std::string &what);
  std::optional<bool> constantBool(const Datum &value);
  /// The number if it is known when compiling, without a message.
  std::optional<int64_t> knownInt(const Datum &value);
  /// A scalar i64, known or not.
  mlir::Value size(const Operand &operand, const std::string &what);
  /// A list of sizes, or one size.
  std::optional<ShapeArg> shape(const Operand &operand);
  /// Nested lists of numbers as a constant; i64, f32 or bool if no type is given.
  mlir::Value tensorOfList(const Operand &list, std::optional<DType> type);
  Diagnostic &typeError(Span span, const std::string &expected, const Datum &found);

  /// The element type that a written type names. Binds a new type variable to `found`.
  std::optional<DType> elementType(const TypeSyntax &type, std::optional<DType> found);
  /// Checks a value against a written type. Arguments are bound first, all of them, then solved,
  /// then checked, so that their order does not matter.
  bool bindType(const TypeSyntax &type, mlir::Value value, Span span);
  mlir::Value checkType(const TypeSyntax &type, mlir::Value value, Span span,
                        const std::string &what);
  /// The type of a variable as it is written; null after an error.
  mlir::RankedTensorType staticType(const TypeSyntax &type, const std::string &what);

  //===- Expressions -------------------------------------------------------===//

  Datum eval(const Expr &expr);
  Operand evalOperand(const Expr &expr) { return {eval(expr), expr.span}; }
  Datum unary(UnaryOp op, const Operand &x, Span span);
  Datum binary(BinaryOp op, const Operand &x, const Operand &y, Span span);
  /// x to the power n, by squaring.
  mlir::Value power(mlir::Value x, int64_t n, Span span);
  /// The element type in which an operation on both happens; nothing after an error. A true
  /// division of integers happens in floats.
  std::optional<DType> commonType(llvm::ArrayRef<Operand> operands, bool isDivision, Span span);
  Datum index(const IndexExpr &expr);
  std::optional<std::vector<Datum>> iterate(const Expr &expr);

  //===- Calls -------------------------------------------------------------===//

  Datum call(const CallExpr &expr);
  /// A block with some arguments: `adam(lr: 0.1)` after `with`, `via`, `use`, or as an argument.
  Datum partial(const Expr &expr);
  /// Applies a block to values, in order; for optimizers and transforms.
  Datum apply(const BlockPtr &block, const std::vector<Operand> &values, InstancePtr instance,
              Span span);
  Datum applyBound(const BlockPtr &block, BoundArgs args, InstancePtr instance, Span span);
  Datum applyCallable(const Operand &callee, const std::vector<Operand> &values, Span span);
  /// A name for random numbers drawn by `name` here; different each time.
  std::string drawPath(const std::string &name);
  const std::vector<mlir::Value> &counters() const { return counters_; }

  //===- Variables, gradients ----------------------------------------------===//

  mlir::Value read(Variable *variable, Span span);
  bool isParam(NameAttr name) const {
    auto found = byName_.find(name);
    return found != byName_.end() && found->second->isParam;
  }
  Datum gradient(const Operand &loss, const Operand &of, Span span);
  /// Shape and element type of the variable that is being initialized; null outside.
  mlir::RankedTensorType initialized() const { return initialized_; }

private:
  using FramePtr = std::shared_ptr<Frame>;
  /// A text with values in it.
  struct Text {
    llvm::SmallVector<std::string> segments;
    llvm::SmallVector<mlir::Attribute> formats;
    llvm::SmallVector<mlir::Value> values;
    bool isBroken = false;
  };

  // elaborate.cpp
  FramePtr fileFrame(const FileAst *file) { return fileFrames_.at(file); }
  FramePtr scopeOf(const Decl &decl);
  Datum lookup(const Decl &decl, Span span);
  Datum lookupTypeVariable(const Decl &decl, Span span);
  void define(const Pattern &pattern, const Operand &value);
  void definePoison(const Pattern &pattern);
  bool isTooLarge(Span span);
  void checkInstances();
  void warnWithoutUpdate();

  // elaborate_types.cpp, elaborate_sizes.cpp
  /// A value that is checked against a written type; `what` it is, for messages.
  struct TypeCheck {
    const TypeSyntax &type;
    mlir::Value value;
    Span span;
    std::string what;
  };
  Diagnostic &reportMisfit(const TypeCheck &check, const std::string &expected);
  /// How often a dimension variable that is not bound yet occurs in a written size.
  size_t countFree(const Expr &expr) const;
  bool isSolvable(const Expr &expr) const;
  mlir::AffineExpr writtenSize(const Expr &expr);
  mlir::Value sizeOf(const BoundDim &dim, Span span);
  /// Binds the variables that stand alone for a size.
  void bindSizes(const TypeSyntax &type, mlir::Value value, Span span);
  /// Binds the variables that are the only free one in a written size, like I in 2 * I. False
  /// after an error.
  bool solveSizes(const TypeCheck &check);
  bool solveSize(const Expr &expr, Operand size, Span span);
  bool checkSize(TypeCheck &check, size_t axis);

  // elaborate_session.cpp
  void enterSession();
  void renameHidden();
  void replaceTensors(llvm::function_ref<Datum(const Datum &)> map);
  void execEntry();
  void showBare(const Expr &expr);
  void addShown(Text &text, const Operand &value);
  std::string kindText(const Datum &value);
  std::string variablesText(const Datum &value);
  void leaveTensors();
  void leaveSession();

  // elaborate_expr.cpp
  Datum evalName(const NameExpr &expr);
  Datum evalMember(const MemberExpr &expr);
  Datum evalSequence(const std::vector<ExprPtr> &elements, bool isTuple);
  Datum evalComprehension(const ComprehensionExpr &expr);
  Datum evalRange(const RangeExpr &expr);
  Datum member(const InstancePtr &instance, const MemberExpr &expr);
  Datum evalIf(const IfExpr &expr, size_t arm, bool wantsValue);
  Datum evalBody(const Body &body, bool wantsValue);

  // elaborate_operators.cpp, elaborate_fold.cpp
  Datum logical(BinaryOp op, const BinaryExpr &expr);
  Datum compareTensors(BinaryOp op, const Operand &x, const Operand &y, Span span);
  Datum powerOf(const Operand &x, const Operand &y, Span span);
  void warnEquality(BinaryOp op, const Operand &x, const Operand &y, Span span);

  // elaborate_index.cpp
  Datum indexSequence(const SequencePtr &sequence, const IndexExpr &expr);
  mlir::Value indexAxis(mlir::Value x, int64_t &axis, const Expr &index);
  mlir::Value sliceAxis(mlir::Value x, int64_t axis, const RangeExpr &range);
  mlir::Value sliceAtRunTime(mlir::Value x, int64_t axis, const RangeExpr &range,
                             const Operand &lower, const Operand &upper);
  void assertSlice(mlir::Value condition, mlir::Value begin, mlir::Value end, mlir::Value total,
                   Span span);
  mlir::Value gatherAxis(mlir::Value x, int64_t axis, mlir::Value ids, Span span);

  // elaborate_stmt.cpp, elaborate_output.cpp, elaborate_data.cpp
  void exec(llvm::ArrayRef<StmtPtr> stmts);
  void exec(const Stmt &stmt);
  void execPlain(const Stmt &stmt);
  void execDecl(const DeclStmt &stmt);
  void execBinding(const DeclStmt &stmt);
  void execAssign(const AssignStmt &stmt);
  void execReturn(const ReturnStmt &stmt);
  void assignVar(const Decl &decl, const Operand &value, Span span);
  void assignVariable(Variable *variable, const Operand &value, Span span);
  void execPrint(const PrintStmt &stmt);
  void execEval(const EvalStmt &stmt);
  void execAssert(const AssertStmt &stmt);
  std::string constantText(const Template &text);
  void fetch(const std::string &name, const Operand &value);
  Text buildText(const Template &text);
  void addToText(Text &text, const Operand &value, const FormatSpec &format);
  void execInput(const DeclStmt &stmt);
  void execData(const DeclStmt &stmt);
  bool readSourceArgs(const CallExpr &call, const Reader &reader, Source &source);
  bool readSourceArg(const CallArg &arg, const Reader &reader, Source &source);
  bool readFileArg(const CallArg &arg, const Reader &reader, Source &source);
  bool readShuffle(const CallArg &arg, SourceInfo &info);
  bool readShare(const CallArg &arg, SourceInfo &info);
  bool readStages(const CallArg &arg, Source &source);
  bool readReaderOption(const CallArg &arg, const Reader &reader, SourceInfo &info);
  std::optional<int64_t> sourceNumber(const CallArg &arg, int64_t least, const char *what);
  void createSource(const DeclStmt &stmt, std::unique_ptr<Source> source,
                    const SourceHeader &header);
  Datum applyStages(const Source &source, Datum batch);
  mlir::Value sourceSize(const Source &source, Span span);
  Datum sourceBatches(const Source &source, Span span);
  void execConst(const DeclStmt &stmt);
  Datum constantFromText(const std::string &text, const Datum &like, const DeclStmt &stmt);
  void checkGivenNames();

  // elaborate_hints.cpp
  void execHinted(const Stmt &stmt);
  HintList evalHints(const Stmt &stmt);
  void hintVariable(Variable *variable, const HintList &hints);
  void withHints(const HintList &hints, bool isInstance, llvm::function_ref<void()> build);

  // elaborate_check.cpp
  void checkUnappliedBlocks();
  void checkUnapplied(const BlockStmt &block, const FileAst &file);
  std::vector<Diagnostic> tryUnapplied(const BlockStmt &block, const FileAst &file, DType unknown);
  Datum unknownArgument(const Arg &arg, DType unknown);

  // elaborate_control.cpp
  Datum runIf(const IfExpr &expr, size_t arm, mlir::Value condition, bool wantsValue);
  /// What one of two branches builds; its value, if one is wanted.
  using Way = llvm::function_ref<Datum()>;
  Datum branch(mlir::Value condition, Span span, const std::vector<const Decl *> &vars,
               bool wantsValue, Way then, Way otherwise);
  void execFor(const ForStmt &stmt);
  void execRange(const ForStmt &stmt, const RangeExpr &range);
  void execData(const ForStmt &stmt, const Source &source);
  void unroll(const ForStmt &stmt, const std::vector<Datum> &items);
  bool mustUnroll(const ForStmt &stmt);
  bool isTooDeep(Span span);
  std::vector<const Decl *> assignedVars(llvm::ArrayRef<StmtPtr> stmts, size_t from = 0);
  std::vector<const Decl *> assignedVars(const Stmt &stmt);
  void skip(const IfExpr &expr);
  void skip(const Stmt &loop);
  /// The `var`s that a loop changes: the tensors that it carries for them, and of each var the
  /// form, a list with numbers of such tensors in their places.
  struct LoopVars {
    std::vector<const Decl *> decls;
    std::vector<mlir::Value> inits;
    std::vector<Datum> forms;
  };
  LoopVars carriedVars(std::vector<const Decl *> decls, Span span);
  Datum carry(const Operand &value, std::vector<mlir::Value> &inits);
  bool isCarriedAs(Datum &value, const Datum &before, Span span);
  void checkCarried(const std::vector<const Decl *> &vars, llvm::ArrayRef<Datum> before,
                    const char *first, const char *then, Span span);
  void runLoopBody(mlir::Operation *loop, mlir::Value counter, const LoopVars &vars, Span span,
                   llvm::function_ref<void()> body);

  // elaborate_jump.cpp
  /// How far a round of the innermost loop has come: whether its statements still run, and whether
  /// another round follows. A bool, or a tensor where only the run knows. `break` makes both false,
  /// `continue` the first: where `runs` is true, so is `goesOn`.
  struct Round {
    Datum runs = true, goesOn = true;
  };
  void execWhile(const WhileStmt &stmt);
  void execWhileRound(const WhileStmt &stmt, const std::vector<const Decl *> &vars);
  void execJump(const Stmt &stmt);
  void execRest(mlir::Value condition, llvm::ArrayRef<StmtPtr> stmts, size_t from);

  // elaborate_call.cpp, elaborate_args.cpp
  Datum callBuiltin(const Builtin &builtin, const CallExpr &expr);
  Datum callCast(DType dtype, const CallExpr &expr);
  Datum callBlock(const BlockPtr &block, const CallExpr &expr);
  Datum callInstance(const InstancePtr &instance, const CallExpr &expr);
  bool bindCallArgs(const BlockPtr &block, const CallExpr &expr, bool isPartial, BoundArgs &args);
  void reportNoArgument(const BlockStmt &block, const CallArg &arg, bool isPartial);
  void reportWithoutName(const BlockPtr &block, const CallExpr &expr, bool isPartial,
                         const CallArg &arg, const Arg &target);
  Datum evalArg(const Arg &arg, const Expr &expr);
  bool enterArgs(const BlockStmt &block, const BoundArgs &args, Span span);
  bool enterArg(const Arg &arg, const Operand &value);
  bool checkArgs(const BlockStmt &block, std::map<const Arg *, Operand> &values);
  std::optional<Datum> convertArg(const Arg &arg, const Operand &value);
  Datum checkResults(const BlockStmt &block, Datum result, Span span);
  bool checkRecursion(const BlockPtr &block, Span span);
  void reportMissingReturn(const BlockStmt &block);

  // elaborate_instance.cpp
  void execUse(const UseStmt &stmt);
  Datum instantiate(const Expr &expr, const Decl &decl, const std::string &path,
                    const Datum *existing);
  void execVariable(const DeclStmt &stmt);
  Variable *createVariable(const DeclStmt &stmt, mlir::RankedTensorType type, NameAttr name);
  bool initialize(const DeclStmt &stmt, mlir::Region &region, mlir::RankedTensorType &type);
  bool checkInitializer(mlir::Region &region, Span span);
  NameAttr variableName(const Instance &owner, const std::string &name);
  void collectVariables(const Datum &value, std::vector<Variable *> &result);

  // elaborate_optimize.cpp
  struct GradientTargets;
  std::vector<Datum> wantedGradients(const Datum &of);
  bool addGradientTarget(const Datum &target, size_t i,
                         llvm::function_ref<bool(NameAttr)> dependsOn, bool isCarried, Span span,
                         GradientTargets &targets);
  void execMinimize(const MinimizeStmt &stmt);
  void execUpdate(const UpdateStmt &stmt);
  std::vector<Variable *> targetsOf(const MinimizeStmt &stmt, mlir::Value loss);
  BlockPtr optimizer(const Expr &expr);
  void optimize(const BlockPtr &block, Variable *param, const Operand &gradient, const Stmt &stmt);
  InstancePtr optimizerInstance(const BlockPtr &block, Variable *param, const Stmt &stmt);

  const Program &program_;
  DiagnosticEngine &diagnostics_;
  const ElaborateOptions &options_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  mlir::Operation *programOp_ = nullptr;
  FramePtr frame_;
  std::map<const FileAst *, FramePtr> fileFrames_;
  std::map<const Decl *, const FileAst *>
      fileOf_;                            ///< Of blocks and constants of a file's top level.
  std::set<const Decl *> beingEvaluated_; ///< Constants.
  std::vector<std::unique_ptr<Variable>> variables_;
  std::map<mlir::Attribute, Variable *, bool (*)(mlir::Attribute, mlir::Attribute)> byName_;
  std::vector<std::unique_ptr<Source>> sources_;
  std::vector<InstancePtr> instances_;
  std::vector<mlir::Value> counters_;     ///< Of the enclosing loops, outermost first.
  std::vector<const BlockStmt *> active_; ///< Blocks that are being applied.
  std::set<const BlockStmt *> applied_;   ///< Blocks that were entered.
  mlir::RankedTensorType initialized_;
  /// Regions that were given up: the shape analysis still knows their values.
  std::vector<std::unique_ptr<mlir::Region>> abandoned_;
  int regionDepth_ = 0;
  Round round_;                  ///< Outside of loops it never ends.
  size_t work_ = 0;              ///< Applications and unrolled rounds so far.
  std::set<Variable *> updated_; ///< Parameters that a `minimize` or `update` changes.
  bool hasFreeMinimize_ = false; ///< There is a `minimize` without `over`.
  bool isAborted_ = false;
  /// The optimizer instances of each parameter: the statement in its frame that owns each.
  struct OwnedState {
    const Stmt *stmt;
    std::string framePath;
    InstancePtr instance;
  };
  std::map<Variable *, std::vector<OwnedState>> optimizerStates_;
};

/// True if statements declare variables or make instances: a block of them needs an owner.
bool needsInstance(const std::vector<StmtPtr> &stmts);

} // namespace pdg
