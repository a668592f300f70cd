// What the runtime must know of a compiled program beside its code: variables, sources, texts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/base/dtype.h"
#include "runtime/transport/exchange.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pdg {

/// A size that is not known before the run.
inline constexpr int64_t kDynamicSize = -1;

/// A variable of the program: `vars[i]` of the compiled functions is the buffer of variable i.
struct VariableInfo {
  std::string name; ///< The printed scope path, "net.hidden.W" or "net.hidden.W/adam.m".
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  bool isParam = false; ///< `param` (trainable) or `state`.
  /// Of a slice: the name of the whole variable, and where the slice begins and ends on each axis,
  /// up to the last one that is cut. Both are empty for a whole variable.
  std::string whole = {};
  std::vector<int64_t> bounds = {};
};

/// One field of an example of a data source, without the batch axis.
struct FieldInfo {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
};

/// The value of an option of a data source: a text (numbers and types too), or a list.
struct OptionValue {
  std::string text;
  bool isList = false;
  std::vector<OptionValue> list = {};
};

/// An option that the source's reader understands.
struct SourceOption {
  std::string name;
  OptionValue value;
};

/// A data source. `reader` names the format ("idx", "csv"); `files` are names or patterns as the
/// script wrote them and are searched for like a script's (resolveDataFiles).
///
/// Which examples: of those in the files, `skip` are left out, at most `limit` of the rest are
/// taken, and of these the share [from, to) (exampleRange).
struct SourceInfo {
  std::string name; ///< The name in the script, "train".
  std::string reader;
  std::vector<std::string> files;
  int64_t batch = 1;
  bool shuffle = false;
  int64_t window = 0; ///< Shuffled inside windows of so many examples; 0: all among each other.
  int64_t seed = 0;
  int64_t skip = 0;
  int64_t limit = kDynamicSize; ///< kDynamicSize: none.
  double from = 0, to = 1;
  int64_t repeat = 1;                ///< A pass of the program is so many passes of the data.
  std::vector<SourceOption> options; ///< Those of the reader.
  std::vector<FieldInfo> fields;     ///< As found when compiling; checked again when opened.
  std::string location;              ///< "model.pdg:12:14", for messages.
};

/// A tensor fed from outside.
struct InputInfo {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape; ///< Known when the program is compiled.
};

/// How one value of a text is printed.
struct ValueFormat {
  DType dtype = DType::F32;
  int64_t rank = 0;
  int64_t width = 0;      ///< Least number of characters, right-aligned; 0: none.
  int64_t precision = -1; ///< Digits; -1: the shortest text that reads back.
  bool significant =
      false; ///< `precision` counts significant digits (".4g"), else decimals (".4").
};

/// A text with values in it: segments[0] value[0] segments[1] ... segments[n]. For a print, or for
/// an error (then with a code and the source line it points to).
struct TextSite {
  std::vector<std::string> segments;
  std::vector<ValueFormat> values;
  std::string code;     ///< "PD2001" for an error; empty for a print.
  std::string location; ///< "model.pdg:12:14".
  std::string excerpt;  ///< The source line and its underline, ready to print; may be empty.
};

/// A value that `eval` returns, by its true name.
struct FetchInfo {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape; ///< With kDynamicSize where only the run knows.
};

/// All tables of one program.
struct ProgramInfo {
  std::vector<VariableInfo> variables;
  std::vector<SourceInfo> sources;
  std::vector<InputInfo> inputs;
  std::vector<TextSite> texts;
  std::vector<FetchInfo> fetches;
  /// The edges of the cluster and the queues, by index. Of an edge that does not end in this
  /// program only the ends are known.
  std::vector<EdgeInfo> edges;
  int64_t arenaBytes = 0; ///< Size of the one buffer that holds every intermediate value.
};

/// Writes `info` as JSON text, the form in which the compilation cache keeps it.
std::string toJson(const ProgramInfo &info);

/// Reads what toJson wrote. Returns false if `text` is not such a text (a damaged cache entry).
bool fromJson(const std::string &text, ProgramInfo &info);

} // namespace pdg
