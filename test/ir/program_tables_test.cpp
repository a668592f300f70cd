// Tests the tables of a module: what is numbered, the texts of errors, the places of locations.
// SPDX-License-Identifier: Apache-2.0
#include "ir/program_tables.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace pdg {
namespace {

class ProgramTablesTest : public testing::Test {
protected:
  ProgramTablesTest() : context(MLIRContext::Threading::DISABLED) {
    context.getOrLoadDialect<PdgDialect>();
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      errors += diagnostic.str() + "\n";
      return success();
    });
  }

  FailureOr<ProgramTables> build(StringRef text, const TableOptions &options = {}) {
    module = parseSourceString<ModuleOp>(text, ParserConfig(&context), "test.mlir");
    if (!module)
      return failure();
    return ProgramTables::build(*module, options);
  }

  /// The text of the error that building `text` gives.
  std::string errorOf(StringRef text) {
    errors.clear();
    EXPECT_TRUE(failed(build(text))) << text.str();
    return errors;
  }

  Operation *firstOp(StringRef name) {
    Operation *found = nullptr;
    module->walk([&](Operation *op) {
      if (!found && op->getName().getStringRef() == name)
        found = op;
    });
    return found;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string errors;
};

constexpr const char *program = R"(
  pdg.variable <"w"> : tensor<2x3xf32> param {
    %x = pdg.constant dense<1.0> : tensor<2x3xf32>
    pdg.yield %x : tensor<2x3xf32>
  }
  pdg.variable <"w", state = "adam.t"> : tensor<i64> {
    %x = pdg.constant dense<0> : tensor<i64>
    pdg.yield %x : tensor<i64>
  }
  pdg.source @train "csv" ["a.csv", "b.csv"] batch 4 shuffle : [tensor<3xf32>]
      {seed = 7 : i64, window = 9, from = 0.25, options = {target = "y", columns = ["a", ["b"]]}}
  pdg.program {
    %x = pdg.input "x" : tensor<2x3xui8>
    %f = pdg.cast %x to f32 : tensor<2x3xui8>
    %t = pdg.read <"w", state = "adam.t"> : tensor<i64>
    %q = pdg.mod %t, %t : tensor<i64>, tensor<i64>
    pdg.print ["t ", " f ", ""] [#pdg.format<>, #pdg.format<width = 9, precision = 3>]
        (%q, %f : tensor<i64>, tensor<2x3xf32>)
    pdg.fetch "f", %f : tensor<2x3xf32>
    %s = pdg.slice %f axis 0 from 0 size 1 : tensor<2x3xf32>
    pdg.fetch "f", %s : tensor<1x3xf32>
    pdg.yield
  })";

TEST_F(ProgramTablesTest, NumbersWhatThereIs) {
  FailureOr<ProgramTables> tables = build(program);
  ASSERT_TRUE(succeeded(tables)) << errors;
  const ProgramInfo &info = tables->info();
  ASSERT_EQ(info.variables.size(), 2u);
  EXPECT_EQ(info.variables[0].name, "w");
  EXPECT_TRUE(info.variables[0].isParam);
  EXPECT_EQ(info.variables[0].shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(info.variables[1].name, "w/adam.t");
  EXPECT_EQ(info.variables[1].dtype, DType::I64);
  EXPECT_FALSE(info.variables[1].isParam);
  auto path = StringAttr::get(&context, "w");
  EXPECT_EQ(tables->variable(NameAttr::get(path)), 0);
  EXPECT_EQ(tables->variable(NameAttr::get(path, StringAttr::get(&context, "adam.t"))), 1);

  ASSERT_EQ(info.sources.size(), 1u);
  EXPECT_EQ(info.sources[0].files, (std::vector<std::string>{"a.csv", "b.csv"}));
  EXPECT_EQ(info.sources[0].batch, 4);
  EXPECT_EQ(info.sources[0].seed, 7);
  EXPECT_TRUE(info.sources[0].shuffle);
  EXPECT_EQ(info.sources[0].window, 9);
  EXPECT_EQ(info.sources[0].limit, kDynamicSize);
  EXPECT_EQ(info.sources[0].from, 0.25);
  EXPECT_EQ(info.sources[0].to, 1);
  ASSERT_EQ(info.sources[0].options.size(), 2u);
  EXPECT_EQ(info.sources[0].options[0].name, "columns");
  EXPECT_EQ(info.sources[0].options[0].value.list[1].list[0].text, "b");
  EXPECT_EQ(info.sources[0].options[1].value.text, "y");

  ASSERT_EQ(info.inputs.size(), 1u);
  EXPECT_EQ(info.inputs[0].dtype, DType::U8);
  // One place for a name; where two fetches differ, only the run knows.
  ASSERT_EQ(info.fetches.size(), 1u);
  EXPECT_EQ(info.fetches[0].shape, (std::vector<int64_t>{kDynamicSize, 3}));
}

TEST_F(ProgramTablesTest, DescribesTexts) {
  FailureOr<ProgramTables> tables = build(program);
  ASSERT_TRUE(succeeded(tables)) << errors;
  const TextSite &print = tables->info().texts[tables->text(firstOp("pdg.print"))];
  EXPECT_EQ(print.segments, (std::vector<std::string>{"t ", " f ", ""}));
  ASSERT_EQ(print.values.size(), 2u);
  EXPECT_EQ(print.values[1].rank, 2);
  EXPECT_EQ(print.values[1].width, 9);
  EXPECT_EQ(print.values[1].precision, 3);
  EXPECT_EQ(print.code, "");
  const TextSite &division = tables->info().texts[tables->text(firstOp("pdg.mod"))];
  EXPECT_EQ(division.code, "PD2002");
  EXPECT_EQ(division.location, "test.mlir:16:10");
  // Sizes that are known are compared when compiling.
  EXPECT_EQ(tables->mismatchText(firstOp("pdg.cast")), -1);
  EXPECT_EQ(tables->nanText(firstOp("pdg.cast")), -1);
}

TEST_F(ProgramTablesTest, TakesExcerptsOfAllCalls) {
  auto at = [&](unsigned line) { return FileLineColLoc::get(&context, "m.pdg", line, 2); };
  Location loc = CallSiteLoc::get(NameLoc::get(StringAttr::get(&context, "n"), at(1)),
                                  CallSiteLoc::get(at(2), at(3)));
  EXPECT_EQ(locationText(loc), "m.pdg:1:2");
  auto excerpt = [](FileLineColRange place) {
    return "line " + std::to_string(place.getStartLine()) + "\n";
  };
  EXPECT_EQ(excerptText(loc, excerpt), "line 1\nin the call at\nline 2\nin the call at\nline 3\n");
  EXPECT_EQ(excerptText(loc, {}), "");
  EXPECT_EQ(locationText(UnknownLoc::get(&context)), "");
  // Of ops that were joined, the first place that there is.
  EXPECT_EQ(locationText(FusedLoc::get(&context, {UnknownLoc::get(&context), at(4), at(5)})),
            "m.pdg:4:2");
}

TEST_F(ProgramTablesTest, RefusesWhatDoesNotFit) {
  EXPECT_EQ(errorOf("module {}"), "expects a 'pdg.program' in the module\n");
  EXPECT_EQ(errorOf("pdg.program { pdg.yield } pdg.program { pdg.yield }"),
            "'pdg.program' op expects to be the only program of a module\n");
  EXPECT_EQ(errorOf(R"(pdg.program {
    %w = pdg.read <"w"> : tensor<f32>
    pdg.yield
  })"),
            "'pdg.read' op names no variable: 'w'\n");
  std::string variable = R"(pdg.variable <"w"> : tensor<f32> {
    %x = pdg.constant dense<1.0> : tensor<f32>
    pdg.yield %x : tensor<f32>
  })";
  EXPECT_EQ(errorOf(variable + variable + "pdg.program { pdg.yield }"),
            "'pdg.variable' op declares the variable 'w' a second time\n");
  EXPECT_EQ(errorOf(variable + R"(pdg.program {
    %w = pdg.read <"w"> : tensor<f64>
    pdg.yield
  })"),
            "'pdg.read' op expects the variable's type 'tensor<f32>', got 'tensor<f64>'\n");
  EXPECT_EQ(errorOf(R"(pdg.program {
    %n = pdg.source_size @train
    pdg.yield
  })"),
            "'pdg.source_size' op names no data source: @train\n");
  EXPECT_EQ(
      errorOf(R"(pdg.source @a "csv" ["a.csv"] batch 2 : [tensor<3xf32>] {to = 0.0}
  pdg.program { pdg.yield })"),
      "'pdg.source' op expects 'window' and 'skip' of at least 0, 'repeat' of at least 1 and 0 "
      "<= 'from' < 'to' <= 1\n");
  EXPECT_EQ(errorOf(R"(pdg.source @a "csv" ["a.csv"] batch 2 : [tensor<3xf32>]
  pdg.program {
    pdg.for_each @a {
    ^bb0(%i: tensor<i64>, %x: tensor<?x4xf32>):
      pdg.yield
    }
    pdg.yield
  })"),
            "'pdg.for_each' op expects f32[?, 3] as field 0, got 'tensor<?x4xf32>'\n");
  EXPECT_EQ(errorOf(R"(pdg.program {
    %x = pdg.input "x" : tensor<2xf32>
    %y = pdg.input "x" : tensor<3xf32>
    pdg.yield
  })"),
            "'pdg.input' op expects the input 'x' to have one type\n");
}

constexpr const char *edges = R"(
#g = #pdg.edge<subject = <"w">, kind = gradient, from = <trainer>, to = <server, 1>>
#n = #pdg.edge<subject = <"n">, kind = value, from = <trainer>, to = <server, 1>, first = true>
#x = #pdg.edge<subject = <"x">, kind = value, from = <trainer>, to = <server>>
#q = #pdg.edge<subject = <"q">, kind = value, from = <server, 1>, to = <server, 1>>
)";

// The index of an edge is its place among all edges of the cluster; queues come behind them.
TEST_F(ProgramTablesTest, NumbersEdges) {
  auto tables = build(std::string(edges) + R"(
  module attributes {pdg.edges = [#x, #n, #g]} {
    pdg.variable <"w", slice = [2, 4]> : tensor<2xf32> {
      %0 = pdg.constant dense<1.0> : tensor<2xf32>
      pdg.yield %0 : tensor<2xf32>
    }
    pdg.program {
      %n = pdg.recv #n to [] {pdg.bound = 64 : i64} : tensor<i64>
      %g = pdg.accumulate #g sum of 2 to [%n, 3] : tensor<?x3xf64>
      pdg.enqueue %g, #q capacity 1 : tensor<?x3xf64>
      pdg.yield
    }
  })");
  ASSERT_TRUE(succeeded(tables)) << errors;
  const ProgramInfo &info = tables->info();
  ASSERT_EQ(info.edges.size(), 4u);
  EXPECT_EQ(info.edges[0].name, "value of x");
  EXPECT_EQ(info.edges[0].place, "");
  EXPECT_TRUE(info.edges[1].firstOnly);
  EXPECT_EQ(info.edges[1].dtype, DType::I64);
  const EdgeInfo &gradient = info.edges[2];
  EXPECT_EQ(tables->edge(firstOp("pdg.accumulate")->getAttr("edge")), 2);
  EXPECT_EQ(gradient.shape, (std::vector<int64_t>{kDynamicSize, 3}));
  EXPECT_EQ(gradient.bound, 64 * 3); // From what is known of the size that is received.
  EXPECT_EQ(gradient.fromKind, PeerKind::Trainer);
  EXPECT_EQ(gradient.fromIndex, kAllOfKind);
  EXPECT_EQ(gradient.toIndex, 1);
  EXPECT_EQ(gradient.place.substr(0, 9), "test.mlir");
  EXPECT_EQ(info.edges[3].name, "value of q");
  EXPECT_EQ(info.variables[0].name, "w[2:4]");
  EXPECT_EQ(info.variables[0].whole, "w");
  EXPECT_EQ(info.variables[0].bounds, (std::vector<int64_t>{2, 4}));
}

TEST_F(ProgramTablesTest, RefusesUnknownEdges) {
  EXPECT_EQ(errorOf(std::string(edges) + R"(
  module attributes {pdg.edges = [#x]} {
    pdg.program {
      %n = pdg.recv #n to [] : tensor<i64>
      pdg.yield
    }
  })"),
            "'pdg.recv' op names an edge that is none of the module's: value of n\n");
}

} // namespace
} // namespace pdg
