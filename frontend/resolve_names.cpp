// Resolution of expressions and types: which declaration a name means.
// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "frontend/foreign.h"
#include "frontend/library_names.h"
#include "frontend/names.h"
#include "frontend/resolver.h"
#include <filesystem>
#include <system_error>

namespace pdg {

/// Suggestions look at all names; after this many unknown ones nobody reads them any more.
static constexpr size_t MaxSuggestions = DiagnosticEngine::MaxShown;

static bool isCapital(const std::string &name) { return name[0] >= 'A' && name[0] <= 'Z'; }

void Resolver::exprs(std::vector<ExprPtr> &list) {
  for (ExprPtr &each : list)
    expr(*each);
}

void Resolver::optional(ExprPtr &node) {
  if (node)
    expr(*node);
}

void Resolver::expr(Expr &node) {
  switch (node.kind) {
  case ExprKind::Int:
  case ExprKind::Float:
  case ExprKind::Bool:
  case ExprKind::String:
    return;
  case ExprKind::Name:
    return name(as<NameExpr>(node));
  case ExprKind::Member:
    return member(as<MemberExpr>(node));
  case ExprKind::Call:
    expr(*as<CallExpr>(node).callee);
    for (CallArg &arg : as<CallExpr>(node).args)
      expr(*arg.value);
    return;
  case ExprKind::Index:
    expr(*as<IndexExpr>(node).base);
    return exprs(as<IndexExpr>(node).indices);
  case ExprKind::Unary:
    return expr(*as<UnaryExpr>(node).operand);
  case ExprKind::Binary:
    expr(*as<BinaryExpr>(node).lhs);
    return expr(*as<BinaryExpr>(node).rhs);
  case ExprKind::List:
    return exprs(as<ListExpr>(node).elements);
  case ExprKind::Tuple:
    return exprs(as<TupleExpr>(node).elements);
  case ExprKind::Comprehension:
    return comprehension(as<ComprehensionExpr>(node));
  case ExprKind::Range:
    optional(as<RangeExpr>(node).lo);
    return optional(as<RangeExpr>(node).hi);
  case ExprKind::If: {
    auto &choice = as<IfExpr>(node);
    for (IfArm &arm : choice.arms) {
      expr(*arm.condition);
      body(arm.body, /*isLoop=*/false);
    }
    if (choice.elseBody)
      body(*choice.elseBody, /*isLoop=*/false);
    return;
  }
  }
}

void Resolver::comprehension(ComprehensionExpr &node) {
  expr(*node.iterable);
  scopes_.push({});
  declare(*node.pattern);
  expr(*node.element);
  scopes_.pop();
}

void Resolver::name(NameExpr &node) {
  ScopeStack::Found found = scopes_.find(node.name);
  if (isInDims_ && isCapital(node.name) && (!found.decl || found.hiddenBy)) {
    node.decl = &declareTypeVariable(node.name, node.span, DeclKind::DimVar);
    return;
  }
  if (found.hiddenBy)
    return reportHidden(node.name, node.span, found);
  if (found.decl) {
    node.decl = found.decl;
    ++found.decl->reads;
    if (found.decl->kind == DeclKind::Import)
      diagnostics_
          .report(DiagCode::PD0053, node.span,
                  absl::StrCat("expected a value, found the module '", node.name, "'"))
          .withHint(absl::StrCat("what is in a module is written ", node.name, ".name"));
    return;
  }
  node.isBuiltin = options_.builtins.functions.contains(node.name) ||
                   options_.builtins.types.contains(node.name);
  if (!node.isBuiltin)
    return reportUnknown(node.name, node.span);
}

void Resolver::member(MemberExpr &node) {
  auto *base = dynAs<NameExpr>(node.base.get());
  Decl *decl = base ? scopes_.find(base->name).decl : nullptr;
  if (!decl || decl->kind != DeclKind::Import)
    return expr(*node.base);
  base->decl = decl;
  ++decl->reads;
  moduleMember(node, *decl);
}

void Resolver::moduleMember(MemberExpr &node, const Decl &module) {
  std::string moduleName = module.name;
  for (const std::unique_ptr<ImportItem> &item : as<ImportStmt>(*module.stmt).items)
    if (&item->decl == &module && !item->isFile)
      moduleName = item->path;
  if (module.module)
    node.decl = findExport(*module.module, node.member);
  std::string builtin = absl::StrCat(moduleName, ".", node.member);
  if (!node.decl && options_.builtins.functions.contains(builtin))
    node.builtin = builtin;
  bool isKnown = node.decl || !node.builtin.empty() || module.isBroken;
  // A module whose own text has errors may lack the member for that reason.
  if (isKnown || (module.module && !module.module->brokenNames.empty()))
    return;
  Diagnostic &error = diagnostics_.report(
      DiagCode::PD0050, node.memberSpan,
      absl::StrCat("the module '", module.name, "' has no '", node.member, "'"));
  error.withHint(suggestMember(node.member, moduleName, module));
}

std::string Resolver::suggestMember(const std::string &name, const std::string &moduleName,
                                    const Decl &module) const {
  if (options_.builtins.functions.contains(name))
    return absl::StrCat("'", name, "' is built in, without a module: ", name, "(...)");
  // `nn.Linear` is no `nn.linear`.
  if (std::string hint = hintForForeignName(name); !hint.empty())
    return hint;
  std::vector<std::string> members;
  if (module.module)
    for (const StmtPtr &stmt : module.module->stmts) {
      if (auto *block = dynAs<BlockStmt>(stmt.get()))
        members.push_back(block->decl.name);
      auto *constant = dynAs<DeclStmt>(stmt.get());
      if (constant && constant->pattern->isName())
        members.push_back(constant->decl().name);
    }
  for (const std::string &each : options_.builtins.functions)
    if (each.starts_with(moduleName + "."))
      members.push_back(each.substr(moduleName.size() + 1));
  if (std::string nearest = findNearest(name, members); !nearest.empty())
    return absl::StrCat("did you mean '", module.name, ".", nearest, "'?");
  for (const Decl *other : scopes_.visibleModules())
    if (other->module && findExport(*other->module, name))
      return absl::StrCat("did you mean '", other->name, ".", name, "'?");
  if (std::string elsewhere = findInLibrary(options_.stdlibFolder, name); !elsewhere.empty())
    return absl::StrCat("did you mean '", elsewhere, "'?");
  std::vector<std::string> builtins(options_.builtins.functions.begin(),
                                    options_.builtins.functions.end());
  std::string nearest = findNearest(name, builtins);
  return nearest.empty() ? "" : absl::StrCat("did you mean the built-in '", nearest, "'?");
}

Decl &Resolver::declareTypeVariable(const std::string &name, Span span, DeclKind kind) {
  auto decl = std::make_unique<Decl>();
  Decl &result = *decl;
  result.kind = kind;
  result.name = name;
  result.span = span;
  result.owner = scopes_.block();
  scopes_.blockScope().names[name] = &result;
  if (BlockStmt *block = scopes_.block())
    block->typeVars.push_back(std::move(decl));
  else
    file_.typeVars.push_back(std::move(decl));
  return result;
}

void Resolver::type(TypeSyntax &node, bool isArg, bool isConst) {
  bool isOuter = isInDims_;
  isInDims_ = true;
  exprs(node.dims);
  isInDims_ = isOuter;
  static const absl::flat_hash_set<std::string> ArgTypes = {"int",  "float", "string",
                                                            "type", "block", "param"};
  bool isScalarBool = node.name == "bool" && !node.hasBrackets && (isArg || isConst);
  if (!ArgTypes.contains(node.name) && !isScalarBool)
    return elementType(node);
  bool isConstType = node.name == "int" || node.name == "float" || node.name == "string";
  if (node.hasBrackets) {
    diagnostics_
        .report(DiagCode::PD0051, node.span,
                absl::StrCat("expected an element type before '[', found '", node.name, "'"))
        .withHint("element types are f32, f64, i32, i64, u8 and bool");
  } else if (!isArg && !isScalarBool && !(isConst && isConstType)) {
    diagnostics_
        .report(DiagCode::PD0051, node.span,
                absl::StrCat("expected the type of a value, found '", node.name,
                             "', which is for arguments of blocks"))
        .withHint(node.name == "float" ? "a number with a fraction is an f32 or an f64"
                  : node.name == "int" ? "a whole number is an i64 or an i32"
                                       : "");
  }
}

void Resolver::elementType(TypeSyntax &node) {
  if (options_.builtins.types.contains(node.name))
    return;
  ScopeStack::Found found = scopes_.find(node.name);
  Decl *decl = found.hiddenBy ? nullptr : found.decl;
  bool isType =
      decl && (decl->kind == DeclKind::TypeVar ||
               (decl->kind == DeclKind::Arg && decl->arg->type && decl->arg->type->name == "type"));
  if (isType) {
    node.decl = decl;
    ++decl->reads;
    return;
  }
  if (!decl && isCapital(node.name)) {
    node.decl = &declareTypeVariable(node.name, node.nameSpan, DeclKind::TypeVar);
    return;
  }
  if (brokenNames_.contains(node.name))
    return;
  Diagnostic &error =
      diagnostics_.report(DiagCode::PD0051, node.nameSpan,
                          decl ? absl::StrCat("expected a type, found the ",
                                              declKindName(decl->kind), " '", node.name, "'")
                               : absl::StrCat("there is no type '", node.name, "'"));
  std::vector<std::string> types(options_.builtins.types.begin(), options_.builtins.types.end());
  if (decl)
    error.withSecondary(decl->span, absl::StrCat("'", node.name, "' is declared here"));
  else if (std::string nearest = findNearest(node.name, types); !nearest.empty())
    error.withHint(absl::StrCat("did you mean '", nearest, "'?"));
  else if (std::string hint = hintForForeignName(node.name); hint.starts_with("the type is"))
    error.withHint(hint);
  else
    error.withHint("types are such as f32, i64, bool, and f32[N, 3] for a tensor with axes");
}

void Resolver::reportHidden(const std::string &name, Span span, const ScopeStack::Found &found) {
  diagnostics_
      .report(DiagCode::PD0049, span,
              absl::StrCat("the block '", found.hiddenBy->decl.name, "' cannot see '", name, "', ",
                           aDeclKind(found.decl->kind), " outside it"))
      .withSecondary(found.decl->span, absl::StrCat("'", name, "' is declared here"))
      .withHint(
          "a block sees constants, modules and other blocks; give it the value as an argument");
}

void Resolver::reportUnknown(const std::string &name, Span span, bool isAssigned) {
  if (brokenNames_.contains(name))
    return;
  if (Span later = scopes_.findUpcoming(name); later.isValid()) {
    diagnostics_
        .report(DiagCode::PD0042, span, absl::StrCat("'", name, "' is used before its declaration"))
        .withSecondary(later, "declared here")
        .withHint("only blocks and imports are visible before their declaration");
    return;
  }
  Diagnostic &error =
      diagnostics_.report(DiagCode::PD0040, span, absl::StrCat("unknown name '", name, "'"));
  if (++unknownCount_ > MaxSuggestions)
    return;
  if (Span ended = scopes_.findEnded(name); ended.isValid() && !isAssigned) {
    error.withSecondary(ended, "this one ends with the body that declares it")
        .withHint(absl::StrCat("declare it before that body, with its first value: var ", name,
                               " = ..."));
    return;
  }
  if (isAssigned)
    error.withNote(absl::StrCat("a new name is declared with 'let', or with 'var' if it changes: "
                                "let ",
                                name, " = ..."));
  error.withHint(suggest(name));
}

/// Words that start statements, for slips such as `prin(x)`.
static constexpr const char *StatementWords[] = {
    "assert", "block",    "break", "const", "continue", "data",  "eval",   "import", "input",
    "let",    "minimize", "param", "print", "return",   "state", "update", "use",    "while"};

std::string Resolver::suggest(const std::string &name) const {
  for (const Decl *module : scopes_.visibleModules())
    if (module->module && findExport(*module->module, name))
      return absl::StrCat("did you mean '", module->name, ".", name, "'?");
  std::vector<std::string> candidates = scopes_.visibleNames();
  candidates.insert(candidates.end(), {"true", "false"});
  candidates.insert(candidates.end(), std::begin(StatementWords), std::end(StatementWords));
  candidates.insert(candidates.end(), options_.builtins.types.begin(),
                    options_.builtins.types.end());
  for (const std::string &each : options_.builtins.functions) {
    size_t dot = each.find('.');
    if (dot == std::string::npos)
      candidates.push_back(each);
    else if (each.substr(0, dot) == name)
      return absl::StrCat("import the module first: import ", name);
  }
  std::error_code error;
  if (std::filesystem::exists(options_.stdlibFolder + "/" + name + ".pdg", error))
    return absl::StrCat("import the module first: import ", name);
  if (std::string hint = hintForForeignName(name); !hint.empty())
    return hint;
  if (std::string found = findInLibrary(options_.stdlibFolder, name); !found.empty())
    return absl::StrCat("import the module ", found.substr(0, found.find('.')), " and write ",
                        found);
  if (std::string nearest = findNearest(name, candidates); !nearest.empty())
    return absl::StrCat("did you mean '", nearest, "'?");
  return isCapital(name) ? "a dimension variable is known in the block whose arguments name it in "
                           "their types, and not in blocks inside that one"
                         : "";
}

} // namespace pdg
