// Prints syntax trees. Spans, resolution and the layout of the source are left out.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ast_print.h"

#include "absl/strings/str_cat.h"
#include <charconv>

namespace pdg {

namespace {

class Printer {
public:
  std::string take() { return std::move(out_); }

  void stmts(const std::vector<StmtPtr> &list) {
    for (const StmtPtr &each : list) {
      stmt(*each);
      put("\n");
    }
  }
  void stmt(const Stmt &node);
  void expr(const Expr &node);
  void type(const TypeSyntax &node);

private:
  void put(const std::string &text) { out_ += text; }
  void indent() { out_.append(indent_ * 4, ' '); }
  void body(const Body &node);
  void docsAndHints(const Stmt &node);
  void bareStmt(const Stmt &node);
  void import(const ImportStmt &node);
  void block(const BlockStmt &node);
  void declaration(const DeclStmt &node);
  void loop(const ForStmt &node);
  void loop(const WhileStmt &node);
  void minimize(const MinimizeStmt &node);
  void update(const UpdateStmt &node);
  void eval(const EvalStmt &node);
  void number(double value);
  void unary(const UnaryExpr &node);
  void binary(const BinaryExpr &node);
  void comprehension(const ComprehensionExpr &node);
  void ifExpr(const IfExpr &node);
  void range(const RangeExpr &node);
  void pattern(const Pattern &node);
  void args(const std::vector<CallArg> &list);
  void quoted(const std::string &text, bool isTemplate);
  void text(const Template &node);

  template <typename List, typename Print> void join(const List &list, Print print) {
    const char *separator = "";
    for (const auto &each : list) {
      put(separator);
      print(each);
      separator = ", ";
    }
  }
  void list(const std::vector<ExprPtr> &exprs) {
    join(exprs, [this](const ExprPtr &each) { expr(*each); });
  }

  std::string out_;
  size_t indent_ = 0;
};

void Printer::body(const Body &node) {
  put("{\n");
  ++indent_;
  stmts(node.stmts);
  --indent_;
  indent();
  put("}");
}

void Printer::docsAndHints(const Stmt &node) {
  size_t begin = 0;
  while (begin < node.doc.size()) {
    size_t end = node.doc.find('\n', begin);
    indent();
    put("## " + node.doc.substr(begin, end - begin) + "\n");
    begin = end + 1;
  }
  for (const Hint &hint : node.hints) {
    indent();
    put("@" + hint.name);
    args(hint.args);
    put("\n");
  }
}

void Printer::stmt(const Stmt &node) {
  docsAndHints(node);
  indent();
  bareStmt(node);
}

void Printer::bareStmt(const Stmt &node) {
  switch (node.kind) {
  case StmtKind::Import:
    return import(as<ImportStmt>(node));
  case StmtKind::Block:
    return block(as<BlockStmt>(node));
  case StmtKind::Use:
    put("use " + as<UseStmt>(node).decl.name + " = ");
    return expr(*as<UseStmt>(node).value);
  case StmtKind::Decl:
    return declaration(as<DeclStmt>(node));
  case StmtKind::Assign:
    expr(*as<AssignStmt>(node).target);
    put(" = ");
    return expr(*as<AssignStmt>(node).value);
  case StmtKind::Expr:
    return expr(*as<ExprStmt>(node).expr);
  case StmtKind::For:
    return loop(as<ForStmt>(node));
  case StmtKind::While:
    return loop(as<WhileStmt>(node));
  case StmtKind::Break:
    return put("break");
  case StmtKind::Continue:
    return put("continue");
  case StmtKind::Return:
    put("return");
    if (const ExprPtr &value = as<ReturnStmt>(node).value) {
      put(" ");
      expr(*value);
    }
    return;
  case StmtKind::Minimize:
    return minimize(as<MinimizeStmt>(node));
  case StmtKind::Update:
    return update(as<UpdateStmt>(node));
  case StmtKind::Print:
    put("print(");
    text(as<PrintStmt>(node).text);
    return put(")");
  case StmtKind::Eval:
    return eval(as<EvalStmt>(node));
  case StmtKind::Assert:
    put("assert ");
    expr(*as<AssertStmt>(node).condition);
    if (auto &message = as<AssertStmt>(node).message) {
      put(", ");
      text(*message);
    }
    return;
  }
}

void Printer::import(const ImportStmt &node) {
  put("import ");
  join(node.items, [this](const std::unique_ptr<ImportItem> &item) {
    if (item->isFile)
      quoted(item->path, false);
    else
      put(item->path);
    if (item->decl.name != item->path)
      put(" as " + item->decl.name);
  });
}

void Printer::block(const BlockStmt &node) {
  put("block " + node.decl.name + "(");
  bool sawStar = false;
  join(node.args, [&](const std::unique_ptr<Arg> &arg) {
    if (arg->isNamed && !std::exchange(sawStar, true))
      put("*, ");
    put(arg->decl.name);
    if (arg->type) {
      put(": ");
      type(*arg->type);
    }
    if (arg->defaultValue) {
      put(" = ");
      expr(*arg->defaultValue);
    }
  });
  put(") ");
  if (node.hasResults) {
    put(node.isTupleResult ? "-> (" : "-> ");
    join(node.results, [this](const TypeSyntax &each) { type(each); });
    put(node.isTupleResult ? ") " : " ");
  }
  if (node.isLazy)
    put("lazy ");
  body(node.body);
}

void Printer::declaration(const DeclStmt &node) {
  put(node.declKind == DeclKind::Data ? "data" : declKindName(node.declKind));
  put(" ");
  pattern(*node.pattern);
  if (node.type) {
    put(": ");
    type(*node.type);
  }
  if (node.init) {
    put(" = ");
    expr(*node.init);
  }
}

void Printer::loop(const ForStmt &node) {
  put("for ");
  if (node.counter) {
    pattern(*node.counter);
    put(", ");
  }
  pattern(*node.pattern);
  put(" in ");
  expr(*node.iterable);
  put(" ");
  body(node.body);
}

void Printer::loop(const WhileStmt &node) {
  put("while ");
  expr(*node.condition);
  if (node.limit) {
    put(" max ");
    expr(*node.limit);
  }
  put(" ");
  body(node.body);
}

void Printer::minimize(const MinimizeStmt &node) {
  put("minimize ");
  expr(*node.loss);
  if (!node.over.empty()) {
    put(" over ");
    list(node.over);
  }
  if (node.via) {
    put(" via ");
    expr(*node.via);
  }
  put(" with ");
  expr(*node.optimizer);
}

void Printer::update(const UpdateStmt &node) {
  put("update ");
  expr(*node.target);
  put(" by ");
  expr(*node.gradient);
  put(" with ");
  expr(*node.optimizer);
}

void Printer::eval(const EvalStmt &node) {
  put("eval ");
  join(node.targets, [this](const EvalTarget &target) {
    std::string text = printAst(*target.expr);
    put(text);
    // A name that no `as` could give is the target's own text.
    bool isWord = target.name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUV"
                                                "WXYZ0123456789_") == std::string::npos;
    if (isWord && target.name != text)
      put(" as " + target.name);
  });
}

void Printer::pattern(const Pattern &node) {
  if (node.isName())
    return put(node.decl.name);
  put(node.isTuple ? "(" : "[");
  join(node.elements, [this](const PatternPtr &each) { pattern(*each); });
  put(node.isTuple ? ")" : "]");
}

void Printer::type(const TypeSyntax &node) {
  put(node.name);
  if (!node.hasBrackets)
    return;
  put("[");
  list(node.dims);
  put("]");
}

void Printer::args(const std::vector<CallArg> &list) {
  put("(");
  join(list, [this](const CallArg &arg) {
    if (!arg.name.empty())
      put(arg.name + ": ");
    expr(*arg.value);
  });
  put(")");
}

void Printer::quoted(const std::string &text, bool isTemplate) {
  for (char c : text) {
    auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      put(std::string("\\") + c);
    else if (c == '\n')
      put("\\n");
    else if (code < 0x20 || code == 0x7F)
      put(absl::StrCat("\\u{", absl::Hex(code), "}"));
    else if (isTemplate && (c == '{' || c == '}'))
      put(std::string(2, c));
    else
      out_.push_back(c);
  }
}

void Printer::text(const Template &node) {
  bool isValue = node.parts.size() == 1 && node.parts[0].expr && node.parts[0].span == node.span;
  if (isValue)
    return expr(*node.parts[0].expr);
  put("\"");
  for (const TemplatePart &part : node.parts) {
    quoted(part.text, true);
    if (!part.expr)
      continue;
    put("{");
    expr(*part.expr);
    const FormatSpec &format = part.format;
    if (format.width || format.precision)
      put(":");
    if (format.width)
      put(absl::StrCat(*format.width));
    if (format.precision)
      put(absl::StrCat(".", *format.precision, format.isGeneral ? "g" : ""));
    put("}");
  }
  put("\"");
}

/// The shortest digits that read back, in a form that is a FLOAT.
void Printer::number(double value) {
  char buffer[64];
  char *end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string digits(buffer, end);
  if (digits.find_first_of(".e") == std::string::npos)
    digits += ".0";
  put(digits);
}

void Printer::range(const RangeExpr &node) {
  if (!node.lo && !node.hi && !node.isInclusive)
    return put(":");
  if (node.lo)
    expr(*node.lo);
  put(node.isInclusive ? "..=" : "..");
  if (node.hi)
    expr(*node.hi);
}

void Printer::ifExpr(const IfExpr &node) {
  const char *lead = "if ";
  for (const IfArm &arm : node.arms) {
    put(lead);
    expr(*arm.condition);
    put(" ");
    body(arm.body);
    lead = " else if ";
  }
  if (node.elseBody) {
    put(" else ");
    body(*node.elseBody);
  }
}

void Printer::unary(const UnaryExpr &node) {
  put(absl::StrCat("(", spelling(node.op), node.op == UnaryOp::Not ? " " : ""));
  // Without a parenthesis the sign would become part of the number.
  bool isNumber = node.operand->kind == ExprKind::Int || node.operand->kind == ExprKind::Float;
  put(isNumber ? "(" : "");
  expr(*node.operand);
  put(isNumber ? "))" : ")");
}

void Printer::binary(const BinaryExpr &node) {
  put("(");
  expr(*node.lhs);
  put(absl::StrCat(" ", spelling(node.op), " "));
  expr(*node.rhs);
  put(")");
}

void Printer::comprehension(const ComprehensionExpr &node) {
  put("[");
  expr(*node.element);
  put(" for ");
  pattern(*node.pattern);
  put(" in ");
  expr(*node.iterable);
  put("]");
}

void Printer::expr(const Expr &node) {
  switch (node.kind) {
  case ExprKind::Int:
    return put(absl::StrCat(as<IntExpr>(node).value));
  case ExprKind::Float:
    return number(as<FloatExpr>(node).value);
  case ExprKind::Bool:
    return put(as<BoolExpr>(node).value ? "true" : "false");
  case ExprKind::String:
    put("\"");
    quoted(as<StringExpr>(node).value, false);
    return put("\"");
  case ExprKind::Name:
    return put(as<NameExpr>(node).name);
  case ExprKind::Member:
    expr(*as<MemberExpr>(node).base);
    return put("." + as<MemberExpr>(node).member);
  case ExprKind::Call:
    expr(*as<CallExpr>(node).callee);
    return args(as<CallExpr>(node).args);
  case ExprKind::Index:
    expr(*as<IndexExpr>(node).base);
    put("[");
    list(as<IndexExpr>(node).indices);
    return put("]");
  case ExprKind::Unary:
    return unary(as<UnaryExpr>(node));
  case ExprKind::Binary:
    return binary(as<BinaryExpr>(node));
  case ExprKind::List:
    put("[");
    list(as<ListExpr>(node).elements);
    return put("]");
  case ExprKind::Tuple:
    put("(");
    list(as<TupleExpr>(node).elements);
    return put(as<TupleExpr>(node).elements.size() == 1 ? ",)" : ")");
  case ExprKind::Comprehension:
    return comprehension(as<ComprehensionExpr>(node));
  case ExprKind::Range:
    return range(as<RangeExpr>(node));
  case ExprKind::If:
    return ifExpr(as<IfExpr>(node));
  }
}

} // namespace

std::string printAst(const FileAst &file) {
  Printer printer;
  printer.stmts(file.stmts);
  return printer.take();
}

std::string printAst(const Expr &expr) {
  Printer printer;
  printer.expr(expr);
  return printer.take();
}

std::string printAst(const Stmt &stmt) {
  Printer printer;
  printer.stmt(stmt);
  return printer.take();
}

std::string printAst(const TypeSyntax &type) {
  Printer printer;
  printer.type(type);
  return printer.take();
}

} // namespace pdg
