// Everything that one run of a program has at run time: its variables, data, inputs, results,
// texts, threads, and why it stopped. The functions of runtime/abi.def are thin wrappers of its
// methods; the interpreter calls the methods. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/base/join.h"
#include "runtime/base/tensor.h"
#include "runtime/checkpoint/named_tensor.h"
#include "runtime/data/data_source.h"
#include "runtime/memory/arena.h"
#include "runtime/transport/buffer.h"
#include "runtime/transport/exchange.h"
#include "runtime/worker/program_info.h"
#include "runtime/worker/progress.h"
#include "runtime/worker/thread_pool.h"

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pdg {

/// Why a run stopped before its end.
struct RunError {
  std::string code;     ///< "PD2001" for an error of the program; empty for one of the world.
  std::string location; ///< "model.pdg:12:14", or empty.
  std::string message;
  std::string excerpt;        ///< The source line and its underline, or empty.
  int exitCode = 0;           ///< Of the process; 0: no error.
  bool isConsequence = false; ///< A peer ended before its time, and knows why.
  /// When and where: after so many batches, in the statement of a text site. So errors of several
  /// trainers, which run one program, are put in order.
  int64_t batches = 0, site = 0;
};

/// The exit code of the process for an error of the world: 1 if the user's files or arguments are
/// wrong, 130 for Cancelled (an interrupt), else 3.
int exitCodeOf(const absl::Status &status);

/// What a user chooses for a run.
struct RunOptions {
  DataPaths paths;
  uint64_t seed = 0;
  int threads = 0;                   ///< 0: one per available processor.
  bool isQuiet = false;              ///< No progress bar, even on a terminal.
  std::string loadFile;              ///< Variables to load after initialization; empty: none.
  std::vector<std::string> loadOnly; ///< The scopes to load; empty: all.
  /// Variables that an earlier run left: they take the place of first values. Not owned.
  std::vector<TensorRef> variables;
  std::map<std::string, int64_t> passes; ///< Of sources: how many passes earlier runs began.
};

/// What a process exchanged with its peers so far.
struct MessageCounts {
  int64_t sent = 0, received = 0; ///< Messages.
  int64_t bytesSent = 0, bytesReceived = 0;
  int64_t waitNanoseconds = 0; ///< Spent in sends and receives, most of it waiting.
};

/// A compiled program, or its initialization.
using CompiledFunction = int64_t (*)(void *ctx, char **vars, char *arena);

/// The state of one run. Methods that return bool give false after they recorded an error (or an
/// interrupt): the program then has to stop. In the steady state none of them allocates.
///
/// Used by one thread at a time, but for interrupt() and parallel().
class ExecutionContext {
public:
  /// Takes one line to print, without its newline.
  using Sink = std::function<absl::Status(std::string_view line)>;

  /// Makes all variables, zero. Reads no data yet.
  static absl::StatusOr<std::unique_ptr<ExecutionContext>> create(ProgramInfo program,
                                                                  RunOptions options);

  ExecutionContext(const ExecutionContext &) = delete;
  ExecutionContext &operator=(const ExecutionContext &) = delete;

  const ProgramInfo &program() const { return program_; }

  /// Prints to standard output behind `label`, whole lines even if several runs print.
  static Sink printerWithLabel(std::string label);

  // Before the run.

  /// Gives the input `name` its value, which must have the declared type and shape exactly.
  absl::Status feed(const std::string &name, HostTensor tensor);

  /// Replaces standard output as the place of prints.
  void setSink(Sink sink) { sink_ = std::move(sink); }

  /// Has `hook` called before each batch with the number of batches so far. It may wait.
  void setBatchHook(std::function<void(int64_t batches)> hook) { batchHook_ = std::move(hook); }

  /// Replaces the progress bar.
  void setProgress(Progress progress) { progress_ = std::move(progress); }

  /// Makes this run one process of a cluster. `exchange` must live as long as the run.
  /// It is process `replica` of its role; without a number, what the exchange says.
  void join(Exchange &exchange, std::optional<int64_t> replica = {});

  /// Makes the variables those of `owner`, a run of the same program that lives as long, before the
  /// run. Only one of both runs at a time, but they take turns while they wait for messages.
  void shareVariables(ExecutionContext &owner);

  /// True if another run may change the variables while this one waits.
  bool sharesVariables() const { return isShared_; }

  // The run.

  /// Runs `init`, loads what the options say, and runs `main`.
  bool run(CompiledFunction init, CompiledFunction main);

  /// The same for programs that are not compiled: `init` and `main` say whether to go on.
  bool run(const std::function<bool()> &init, const std::function<bool()> &main);

  /// The two halves of run(), for whoever does something with the variables of several contexts
  /// between them. The second must follow the first, if that was successful.
  bool initialize(CompiledFunction init);
  bool initialize(const std::function<bool()> &init);
  bool execute(CompiledFunction main);
  bool execute(const std::function<bool()> &main);

  /// True once all variables have the values with which the program starts.
  bool isInitialized() const { return isInitialized_; }

  /// How many passes over a source were begun, those of earlier runs included.
  int64_t passes(int64_t source) const { return sources_[static_cast<size_t>(source)].passes; }

  /// Why the last run stopped. Valid after a method returned false.
  const RunError &error() const { return error_; }

  /// Asks the program to stop at its next loop iteration or batch. Async-signal-safe.
  void interrupt() noexcept { interrupted_.store(true, std::memory_order_relaxed); }

  // What the program asks for while it runs. Indices are those of the tables of program().

  /// Begins a new pass over a source.
  bool openSource(int64_t source);

  /// Takes the next batch: its number of examples, 0 at the end of the pass, -1 to stop.
  int64_t nextBatch(int64_t source, char **fields);

  /// The number of examples, or -1 to stop.
  int64_t sourceSize(int64_t source);

  /// The fed value of an input. Requires: run() found that all inputs were fed.
  HostTensor &input(int64_t input) { return *inputs_[static_cast<size_t>(input)]; }

  bool print(int64_t site, const char *const *values, const int64_t *dims);
  bool fetch(int64_t site, const char *value, const int64_t *dims);

  /// Records the error of a text site. Always false.
  bool fail(int64_t site, const char *const *values, const int64_t *dims);

  /// Records an error of the world at a script location. Always false.
  bool fail(const absl::Status &status, const std::string &location = {});

  /// False after an interrupt.
  bool poll() { return !interrupted_.load(std::memory_order_relaxed) || failInterrupted(); }

  uint64_t seed() const { return options_.seed; }

  /// The number of threads of the run. Valid while a program runs; 1 before.
  int threads() const { return pool_ ? pool_->size() : 1; }

  /// Runs tasks on the threads of the run. Thread-safe; nested calls run inline.
  void parallel(ThreadPool::Task task, void *args, int64_t tasks);

  // Messages to and from the other processes of the cluster (runtime/abi.def says what each does).

  /// The number of this process among those of its role; 0 outside a cluster.
  int64_t replica() const { return replica_; }

  /// What was sent and received so far.
  const MessageCounts &messages() const { return messages_; }

  /// Takes the next message of `edge` from process `from` of the role that sends. Its memory stays
  /// until the next message of the edge and process is taken.
  bool take(int64_t edge, int64_t from, TensorView &message);

  /// Takes the first tensor of queue `edge`. Its memory stays until the next one is taken.
  bool takeQueued(int64_t edge, TensorView &value);

  bool send(int64_t edge, const char *value, const int64_t *dims);
  bool receive(int64_t edge, char *value, const int64_t *dims);
  bool accumulate(int64_t edge, Joining joining, int64_t count, char *value, const int64_t *dims);
  bool collect(int64_t edge, int64_t axis, int64_t count, char *value, const int64_t *dims);
  bool enqueue(int64_t edge, int64_t capacity, const char *value, const int64_t *dims);
  bool dequeue(int64_t edge, char *value, const int64_t *dims);

  // Variables and results.

  /// One tensor per variable, in the order of the table. Their addresses stay.
  std::vector<HostTensor> &variables() { return owner_ ? owner_->variables_ : variables_; }

  /// The same, with their names.
  std::vector<TensorRef> namedVariables();

  /// The addresses of the variables' elements: `vars` of compiled functions.
  char **variableAddresses() { return variableAddresses_.data(); }

  /// The last value of a fetch site, or null if it was never reached.
  const HostTensor *fetched(int64_t site) const;

  /// The values of all fetch sites that were reached, by name.
  std::vector<TensorRef> fetchedValues();

  /// Loads variables from a .safetensors or .npz file (see loadVariables).
  absl::Status load(const std::string &path, std::span<const std::string> only = {});

  /// Saves all variables to a .safetensors or .npz file.
  absl::Status save(const std::string &path);

private:
  struct Source {
    std::unique_ptr<DataSource> data;
    int64_t passes = 0; ///< Begun so far, by earlier runs too.
    bool isFirstBatch = false;
  };

  /// Tensors of a queue of this process: those from `first` on, `count` of them.
  struct Queue {
    struct Entry {
      Buffer buffer;
      std::vector<int64_t> sizes;
    };
    std::vector<Entry> entries; ///< One more than the queue holds: the one that was taken last.
    size_t first = 0, count = 0;
  };

  ExecutionContext(ProgramInfo program, RunOptions options);

  bool call(CompiledFunction function);
  void leave();
  bool failMessage(int64_t edge, const absl::Status &status);
  bool takeAs(int64_t edge, int64_t from, const int64_t *dims, int64_t freeAxis,
              TensorView &message);
  absl::Status allocateVariables();
  absl::Status takeUpVariables();
  void findLosses();
  absl::Status checkInputs() const;
  absl::Status openData(int64_t source);
  void prefetchData();
  DataSource *dataOf(int64_t source);
  bool failInterrupted();

  ProgramInfo program_;
  RunOptions options_;

  std::vector<HostTensor> variables_;
  std::vector<char *> variableAddresses_;
  std::vector<std::optional<HostTensor>> inputs_;
  std::vector<std::optional<HostTensor>> fetched_;
  std::vector<Source> sources_;
  Arena arena_;
  std::unique_ptr<ThreadPool> pool_;

  ExecutionContext *owner_ = nullptr; ///< Of the variables, if it is another run.
  bool isShared_ = false;
  int64_t replica_ = 0;
  Exchange *exchange_ = nullptr;             ///< Null outside a cluster.
  std::vector<std::vector<Peer>> receivers_; ///< Of each edge: where this process sends it.
  std::vector<TensorView> parts_;            ///< Reused for the messages of all trainers.
  std::vector<Queue> queues_;                ///< By edge; empty where it is no queue.
  MessageCounts messages_;
  int64_t batches_ = 0; ///< Taken so far, of all sources.
  std::function<void(int64_t)> batchHook_;

  Sink sink_;
  Progress progress_;
  std::string line_; ///< Reused for every text.
  std::string loss_;
  std::vector<int64_t> lossOf_; ///< Per text site: which of its values is a loss, or -1.

  std::atomic<bool> interrupted_ = false;
  bool isInitialized_ = false;
  RunError error_;
};

} // namespace pdg
