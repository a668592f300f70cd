// Names: what they mean, where they are visible, and what is said if they mean nothing.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/resolve.h"

#include "test/frontend/harness.h"
#include <gtest/gtest.h>

namespace pdg::test {
namespace {

struct Case {
  const char *text;
  const char *place;
  const char *message;
};

void check(const Case &each, bool warnsUnused = false) {
  auto run = load(each.text, warnsUnused);
  EXPECT_EQ(run->codes(), each.place) << each.text;
  std::string text = run->diagnostics.renderText();
  EXPECT_NE(text.find(each.message), std::string::npos) << each.text << "\n" << text;
}

TEST(Resolve, SamplesAreFine) {
  for (const std::string &sample : samples()) {
    auto run = load(sample);
    EXPECT_TRUE(run->diagnostics.empty()) << run->diagnostics.renderText();
  }
}

TEST(Resolve, NamesPointToDeclarations) {
  auto run = load("import nn\nlet x = 1\nlet y = nn.dense(x, units: relu)\n"
                  "for i in 0..3 { let x = x + i }\n");
  ASSERT_TRUE(run->diagnostics.empty()) << run->diagnostics.renderText();
  auto &stmts = run->program->main().stmts;
  auto &x = as<DeclStmt>(*stmts[1]);
  auto &call = as<CallExpr>(*as<DeclStmt>(*stmts[2]).init);
  auto &callee = as<MemberExpr>(*call.callee);
  ASSERT_TRUE(callee.decl);
  EXPECT_EQ(callee.decl->kind, DeclKind::Block);
  EXPECT_EQ(callee.decl->block->decl.name, "dense");
  EXPECT_EQ(as<NameExpr>(*call.args[0].value).decl, &x.decl());
  EXPECT_TRUE(as<NameExpr>(*call.args[1].value).isBuiltin);
  // The initializer of an inner x sees the outer one.
  auto &loop = as<ForStmt>(*stmts[3]);
  auto &sum = as<BinaryExpr>(*as<DeclStmt>(*loop.body.stmts[0]).init);
  EXPECT_EQ(as<NameExpr>(*sum.lhs).decl, &x.decl());
  EXPECT_EQ(as<NameExpr>(*sum.rhs).decl, &loop.pattern->decl);
  EXPECT_EQ(x.decl().reads, 2u);
}

TEST(Resolve, OuterNamesAreHiddenByTheScripts) {
  auto before = load("import nn\nlet x = 1\nvar y = 2\nconst k = 3\n");
  auto &stmts = before->program->main().stmts;
  OuterNames outer;
  outer["nn"] = &as<ImportStmt>(*stmts[0]).items[0]->decl;
  for (size_t i : {1, 2, 3}) {
    Pattern &pattern = *as<DeclStmt>(*stmts[i]).pattern;
    outer[pattern.decl.name] = &pattern.decl;
  }
  DiagnosticEngine diagnostics(before->sources);
  auto loadEntry = [&](const std::string &text) {
    LoadOptions entryOptions = options();
    entryOptions.warnsUnused = false;
    entryOptions.outer = &outer;
    diagnostics.clear();
    return loadProgramText(before->sources, "entry", text, entryOptions, diagnostics);
  };
  auto program = loadEntry("let x = x + y\ny = k\nprint(x)\nnn.relu(x)");
  ASSERT_FALSE(diagnostics.hasErrors()) << diagnostics.renderText();
  auto &x = as<DeclStmt>(*program->main().stmts[0]);
  auto &sum = as<BinaryExpr>(*x.init);
  EXPECT_EQ(as<NameExpr>(*sum.lhs).decl, outer["x"]);
  auto &assignment = as<AssignStmt>(*program->main().stmts[1]);
  EXPECT_EQ(as<NameExpr>(*assignment.target).decl, outer["y"]);
  auto &print = as<PrintStmt>(*program->main().stmts[2]);
  EXPECT_EQ(as<NameExpr>(*print.text.parts[0].expr).decl, &x.decl());

  // Blocks see no values around them; a slip is corrected to a name of an earlier entry.
  loadEntry("block f() { return k + x }\nprint(yy)");
  EXPECT_NE(diagnostics.renderText().find("entry:1:24"), std::string::npos);
  EXPECT_NE(diagnostics.renderText().find("did you mean 'y'?"), std::string::npos);
}

TEST(Resolve, BuiltinMembersOfModules) {
  auto run = load("import io as files\ndata d = files.idx(\"a\")\nprint(d.size)");
  ASSERT_TRUE(run->diagnostics.empty()) << run->diagnostics.renderText();
  auto &data = as<DeclStmt>(*run->program->main().stmts[1]);
  auto &callee = as<MemberExpr>(*as<CallExpr>(*data.init).callee);
  EXPECT_EQ(callee.builtin, "io.idx");
  EXPECT_EQ(callee.decl, nullptr);
}

TEST(Resolve, TypeVariablesBelongToTheirBlock) {
  auto run = load("input x: f32[N, 3]\n"
                  "block f(a: T[N, 2 * I], b: bool, k: type) -> T[N] {\n"
                  "    param W: k[I, O] = 0\n"
                  "    return zeros([N, I], type: T)\n}\n"
                  "print(N)\n");
  ASSERT_TRUE(run->diagnostics.empty()) << run->diagnostics.renderText();
  auto &stmts = run->program->main().stmts;
  auto &block = as<BlockStmt>(*stmts[1]);
  std::string names;
  for (auto &decl : block.typeVars)
    names += decl->name + (decl->kind == DeclKind::TypeVar ? "! " : " ");
  EXPECT_EQ(names, "N I T! O ");
  ASSERT_EQ(run->program->main().typeVars.size(), 1u);
  auto &param = as<DeclStmt>(*block.body.stmts[0]);
  EXPECT_EQ(param.type->decl, &block.args[2]->decl);
  EXPECT_EQ(as<NameExpr>(*as<PrintStmt>(*stmts[2]).text.parts[0].expr).decl,
            run->program->main().typeVars[0].get());
  EXPECT_EQ(param.decl().owner, &block);
}

TEST(Resolve, UnknownNamesSuggestTheNearest) {
  const Case cases[] = {
      {"let learning = 1\nprint(lerning)", "PD0040 2:7", "did you mean 'learning'?"},
      {"print(Relu)", "PD0040 1:7", "did you mean 'relu'?"},
      {"print(True)", "PD0040 1:7", "did you mean 'true'?"},
      {"print(xyzzy)", "PD0040 1:7", "unknown name 'xyzzy'"},
      {"import nn\nprint(dense)", "PD0040 2:7", "did you mean 'nn.dense'?"},
      {"print(io.idx)", "PD0040 1:7", "import the module first: import io"},
      {"import nn\nprint(nn.dens)", "PD0050 2:10", "did you mean 'nn.dense'?"},
      {"import io\nprint(io.cvs)", "PD0050 2:10", "did you mean 'io.csv'?"},
      {"let x: f23 = 1", "PD0051 1:8", "did you mean 'f32'?"},
      {"let x: int = 1", "PD0051 1:8", "a whole number is an i64 or an i32"},
      {"block f(x: f32[n]) { }", "PD0040 1:16", "unknown name 'n'"},
      {"block f(x: float[3]) { }", "PD0051 1:12", "expected an element type before '['"},
      {"let a = 1\nlet x: a = 1", "PD0051 2:8", "expected a type, found the let 'a'"},
      {"@onn(\"x\")\nlet a = 1", "PD0052 1:1", "did you mean @on?"},
      {"import nn\nlet a = nn", "PD0053 2:9", "what is in a module is written nn.name"},
      {"print(\"{1} {nam}\")", "PD0040 1:13", "unknown name 'nam'"},
  };
  for (const Case &each : cases)
    check(each);
}

TEST(Resolve, Scopes) {
  const Case cases[] = {
      {"let x = 1\nlet x = 2", "PD0041 2:5", "first defined here"},
      {"block f(a, a) { }", "PD0041 1:12", "'a' is defined twice"},
      {"block f(a) { let a = 1 }", "PD0041 1:18", "'a' is defined twice"},
      {"for i, i in [1] { }", "PD0041 1:8", "'i' is defined twice"},
      {"print(x)\nlet x = 1", "PD0042 1:7", "'x' is used before its declaration"},
      {"let x = x", "PD0042 1:9", "'x' is used before its declaration"},
      {"for i in 0..3 { let y = i }\nprint(y)", "PD0040 2:7", "unknown name 'y'"},
      {"let s = 1\nblock f(x) { return s }", "PD0049 2:21",
       "the block 'f' cannot see 's', a let outside it"},
      {"block f(x) { block g() { return x } return g }", "PD0022 1:37, PD0049 1:33",
       "'x', a argument outside it"},
  };
  for (size_t i = 0; i + 1 < std::size(cases); ++i)
    check(cases[i]);
  auto run = load("block f(n: int) { block g() { return n + c }; return g() }\n"
                  "const c = 1\n");
  EXPECT_EQ(run->codes(), "PD0042 1:42") << "constants are visible only after their declaration";
  EXPECT_EQ(load("print(f(1))\nblock f(x) { return h(x) }\nblock h(x) { return x }")->codes(), "");
  EXPECT_EQ(load("for _, (_, b) in [1] { print(b) }")->codes(), "");
}

TEST(Resolve, Places) {
  const Case cases[] = {
      {"let x = 1\nx = 2", "PD0043 2:1", "expected a var or a state, found a let"},
      {"const n = 1\nn = 2", "PD0043 2:1", "--set"},
      {"param W: f32 = 0\nW = 1", "PD0043 2:1", "'minimize' and 'update'"},
      {"block f(x) { x = 1 }", "PD0043 1:14", "copy it first"},
      {"relu = 1", "PD0043 1:1", "'relu' is built in"},
      {"y = 1", "PD0040 1:1", "unknown name 'y'"},
      {"break", "PD0044 1:1", "expected 'break' only inside a loop"},
      {"for i in 0..3 { block f() { continue } }", "PD0044 1:29", "'continue' only inside"},
      {"return 1", "PD0045 1:1", "'eval' or 'print'"},
      {"if true { import io }", "PD0048 1:11", "expected 'import' only at the top level"},
      {"block f() { input x: f32 }", "PD0048 1:13", "expected 'input' only at the top level"},
      {"block f() { eval 1 }", "PD0048 1:13", "expected 'eval' only in the script itself"},
  };
  for (const Case &each : cases)
    check(each);
  EXPECT_EQ(load("block f(p: param, g) { p = p - g }\nwhile true { break }")->codes(), "");
}

TEST(Resolve, UnusedNamesAreWarnedOf) {
  check({"let a = 1", "PD0090 1:5", "warning[PD0090]: the let 'a' is never used"}, true);
  check({"var a = 1\na = 2", "PD0090 1:5", "the var 'a' is assigned but never read"}, true);
  check({"import io", "PD0091 1:8", "the module 'io' is imported but not used"}, true);
  check({"block f() { let b = 1; return 2 }", "PD0090 1:17", "'b' is never used"}, true);
  EXPECT_EQ(load("let _a = 1\nlet (b, c) = (1, 2)\nprint(b)\nfor i in 0..3 { }\n", true)->codes(),
            "");
}

TEST(Resolve, ABadStatementCausesNoFurtherErrors) {
  auto run = load("let width = (3\nlet x = * 4\nprint(width + x)\nprint(other)");
  EXPECT_EQ(run->codes(), "PD0023 1:13, PD0021 2:9, PD0040 4:7");
}

TEST(Resolve, FilesBesideTheScript) {
  Attempt run;
  run.sources.addOverlay("dir/lib/layers.pdg", "import \"../more.pdg\"\nconst size = more.one\n"
                                               "block layer(x) { return x * size }\n");
  run.sources.addOverlay("dir/more.pdg", "const one = 1\n");
  run.program = loadProgramText(run.sources, "dir/main.pdg",
                                "import \"lib/layers.pdg\", \"more.pdg\" as m\n"
                                "print(layers.layer(m.one) + layers.size)",
                                options(), run.diagnostics);
  ASSERT_TRUE(run.diagnostics.empty()) << run.diagnostics.renderText();
  ASSERT_EQ(run.program->files.size(), 3u) << "each file once";
  EXPECT_EQ(run.program->main().path, "dir/main.pdg");
}

TEST(Resolve, BadImports) {
  const Case cases[] = {
      {"import optm", "PD0046 1:8", "did you mean 'optim'?"},
      {"import \"none.pdg\"", "PD0046 1:8", "there is no file dir/none.pdg"},
      {"import \"a-b.pdg\"", "PD0046 1:8", "expected 'as' and a name"},
      {"import \"test.pdg\"", "PD0047 1:8", "dir/test.pdg imports itself through this import"},
      {"import none\nprint(none.x)", "PD0046 1:8", "the library has no module 'none'"},
  };
  for (size_t i = 1; i < std::size(cases); ++i)
    check(cases[i]);
  Attempt run;
  run.sources.addOverlay("a.pdg", "import \"b.pdg\"\nlet x = 1\n");
  run.sources.addOverlay("b.pdg", "import \"a.pdg\"\nblock f(x) { return y }\nlet z = (\n");
  run.program = loadProgramText(run.sources, "main.pdg", "import \"a.pdg\"\nprint(a.x)", options(),
                                run.diagnostics);
  EXPECT_EQ(run.codes(), "PD0050 2:9, PD0048 2:1, PD0047 1:8, PD0040 2:21, PD0023 3:9");
  EXPECT_NE(run.diagnostics.renderText().find("a.pdg imports the next file"), std::string::npos);
}

TEST(Resolve, MissingScript) {
  Attempt run;
  EXPECT_EQ(loadProgram(run.sources, "/nowhere/at all.pdg", options(), run.diagnostics), nullptr);
  EXPECT_EQ(run.diagnostics.renderText(), "error[PD0001]: /nowhere/at all.pdg: no such file\n\n");
  Attempt folder;
  EXPECT_EQ(loadProgram(folder.sources, "/", options(), folder.diagnostics), nullptr);
  EXPECT_EQ(folder.codes(), "PD0001");
}

} // namespace
} // namespace pdg::test
