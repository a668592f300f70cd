// Runs pdg modules for tests: interpreted, and compiled for each instruction set and number of
// threads, with the same inputs; compares what comes out bit for bit.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/dialect.h"
#include "passes/codegen/jit/target_info.h"
#include "runtime/base/tensor.h"
#include "runtime/worker/execution_context.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <random>

namespace pdg {

/// Tensors by their names: what a run is fed with.
using Tensors = std::map<std::string, std::shared_ptr<HostTensor>>;

/// What a run leaves behind.
struct Outcome {
  std::map<std::string, HostTensor> values;    ///< By the names of the fetches.
  std::map<std::string, HostTensor> variables; ///< By their names.
  std::vector<std::string> lines;              ///< Printed.
  RunError error;
  std::string problem; ///< Why it could not be run at all; empty: it was.
};

/// A context with everything that is needed, which keeps what is reported.
class TestContext {
public:
  TestContext();
  mlir::MLIRContext context;
  std::string reports; ///< Texts of diagnostics.
  /// Reads a module; reports a failure of the test and gives null if it is none.
  mlir::OwningOpRef<mlir::ModuleOp> parse(llvm::StringRef text);
};

/// Applies the graph pipeline. False if it fails; the reports say why.
bool simplify(TestContext &test, mlir::ModuleOp module);

/// Runs `module`, which has no gradients any more.
Outcome interpretModule(TestContext &test, mlir::ModuleOp module, const Tensors &inputs);

/// Compiles a copy of `module` for `target` and runs it with each of `inputs` and each number of
/// threads: the outcomes of the first inputs come first.
std::vector<Outcome> runNative(TestContext &test, mlir::ModuleOp module,
                               llvm::ArrayRef<Tensors> inputs, const TargetInfo &target,
                               llvm::ArrayRef<int> threads);

/// The targets that this processor runs.
std::vector<TargetInfo> runnableTargets();

/// Says where two tensors differ; empty if they have the same type and bits (NaNs are equal).
std::string differenceOf(const HostTensor &a, const HostTensor &b);

/// Says what differs between two outcomes; empty: nothing.
std::string differenceOf(const Outcome &expected, const Outcome &got);

/// Compares the interpreter with native code for `targets`, with 1 to 3 threads. Empty: equal.
std::string compareNative(TestContext &test, mlir::ModuleOp module, llvm::ArrayRef<Tensors> inputs,
                          llvm::ArrayRef<TargetInfo> targets = runnableTargets());

/// One of the targets: each has its turn as `turn` grows.
TargetInfo targetOfTurn(size_t turn);

//===- Random tensors ------------------------------------------------------===//

/// What the elements of a random tensor are.
enum class Style {
  Plain,   ///< Small numbers of both signs.
  Special, ///< Half of them NaNs, infinities, zeros, denormals and extreme integers.
  Smooth,  ///< Distinct, and away from integers and zero; positive.
  Signed,  ///< The same, of both signs.
};

using Random = std::mt19937_64;

std::shared_ptr<HostTensor> randomTensor(Random &random, DType dtype, std::vector<int64_t> shape,
                                         Style style);
/// Integers in [0, limit).
std::shared_ptr<HostTensor> randomIndices(Random &random, DType dtype, std::vector<int64_t> shape,
                                          int64_t limit);
/// Replaces zeros by ones.
void avoidZeros(HostTensor &tensor);

/// The MLIR type of `tensor`.
mlir::RankedTensorType typeOf(mlir::MLIRContext *context, DType dtype,
                              llvm::ArrayRef<int64_t> shape);

} // namespace pdg
