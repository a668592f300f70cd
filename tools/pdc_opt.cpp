// pdc-opt: runs passes on IR text, for tests and study.
// SPDX-License-Identifier: Apache-2.0
#include "ir/dialect.h"
#include "passes/passes.h"
#include "passes/pipelines.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<pdg::PdgDialect>();
  mlir::registerAllPasses();
  pdg::registerPdgPasses();
  pdg::registerPdgPipelines();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "pdc-opt: pdg passes\n", registry));
}
