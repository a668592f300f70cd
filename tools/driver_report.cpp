// Messages as text or as JSON, one object a line.
// SPDX-License-Identifier: Apache-2.0
#include "tools/driver_report.h"

#include "runtime/base/text.h"
#include "runtime/worker/text.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <unistd.h>

namespace pdg {

static void writeToStandardError(const std::string &text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

int reportDiagnostics(const DiagnosticEngine &diagnostics, ReportFormat format) {
  if (!diagnostics.empty())
    writeToStandardError(format == ReportFormat::Json
                             ? diagnostics.renderJson()
                             : diagnostics.renderText(RenderOptions::forTerminal(STDERR_FILENO)));
  return diagnostics.hasErrors() ? ExitWrongInput : ExitDone;
}

/// Splits "model.pdg:12:14" into the members of a JSON place.
static void addPlace(const std::string &location, nlohmann::ordered_json &json) {
  size_t column = location.rfind(':');
  size_t line = column == std::string::npos || column == 0 ? std::string::npos
                                                           : location.rfind(':', column - 1);
  if (line == std::string::npos)
    return;
  json["file"] = location.substr(0, line);
  json["line"] = std::atoi(location.c_str() + line + 1);
  json["column"] = std::atoi(location.c_str() + column + 1);
}

static std::string runErrorJson(const RunError &error) {
  nlohmann::ordered_json json;
  json["code"] = error.code;
  json["severity"] = "error";
  std::optional<DiagCode> code = findCode(error.code);
  json["title"] = code ? codeTitle(*code) : "";
  json["message"] = error.message;
  addPlace(error.location, json);
  json["label"] = "";
  json["secondary"] = nlohmann::ordered_json::array();
  json["notes"] = nlohmann::ordered_json::array();
  json["hint"] = "";
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

static std::string runErrorText(const RunError &error) {
  if (error.exitCode == ExitInterrupted)
    return "interrupted\n"; // The user knows why.
  bool useColor = RenderOptions::forTerminal(STDERR_FILENO).useColor;
  std::string head = error.code.empty() ? "error" : "error[" + error.code + "]";
  std::string text = useColor
                         ? "\033[1;31m" + head + "\033[0m\033[1m: " + error.message + "\033[0m\n"
                         : head + ": " + error.message + "\n";
  if (!error.excerpt.empty())
    text += error.excerpt;
  else if (!error.location.empty())
    text += " --> " + error.location + "\n";
  return text;
}

int reportRunError(const RunError &error, ReportFormat format) {
  writeToStandardError(format == ReportFormat::Json ? runErrorJson(error) : runErrorText(error));
  return error.exitCode;
}

int reportStatus(const absl::Status &status, ReportFormat format) {
  RunError error;
  error.message = std::string(toStd(status.message()));
  error.exitCode = exitCodeOf(status);
  return reportRunError(error, format);
}

absl::Status printValues(std::span<const TensorRef> values) {
  for (const TensorRef &value : values) {
    std::string line = value.name + " = ";
    appendValue({.dtype = value.tensor->dtype(), .rank = value.tensor->rank()},
                reinterpret_cast<const char *>(value.tensor->bytes()), value.tensor->shape().data(),
                line);
    line += '\n';
    std::fwrite(line.data(), 1, line.size(), stdout);
  }
  return std::fflush(stdout) == 0 ? absl::OkStatus()
                                  : absl::ErrnoToStatus(errno, "cannot write to standard output");
}

} // namespace pdg
