// What `pdc` says on standard error beside the messages of the front end: why a run stopped, what a
// file lacks, what the compiler's IR refused.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "frontend/diagnostics.h"
#include "runtime/worker/execution_context.h"
#include "tools/driver.h"

namespace pdg {

/// Prints all messages of `diagnostics`. Returns the exit code: ExitWrongInput if one is an error.
int reportDiagnostics(const DiagnosticEngine &diagnostics, ReportFormat format);

/// Prints why a run stopped. Returns its exit code.
int reportRunError(const RunError &error, ReportFormat format);

/// Prints an error of a file or an argument. Returns the exit code.
int reportStatus(const absl::Status &status, ReportFormat format);

/// Prints "name = value" for each value, to standard output.
absl::Status printValues(std::span<const TensorRef> values);

} // namespace pdg
