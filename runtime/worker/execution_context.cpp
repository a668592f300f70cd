// The state of a run. Prepares everything that a step needs, so that steps only fill it.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/worker/execution_context.h"

#include "runtime/base/text.h"
#include "runtime/checkpoint/variables.h"
#include "runtime/worker/text.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cassert>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>

namespace pdg {

namespace {

absl::Status printToStandardOutput(std::string_view line) {
  // Flushed each time: whoever watches a long run through a pipe sees lines when they are printed.
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fputc('\n', stdout);
  if (std::fflush(stdout) == 0 && !std::ferror(stdout))
    return absl::OkStatus();
  // Whatever errno says, the program and its input are not to blame.
  return absl::UnavailableError(
      absl::StrCat("cannot write to standard output: ", std::strerror(errno)));
}

// "loss ", "train_loss=" and "Loss: " announce a loss, "lossless " does not.
bool announcesLoss(const std::string &segment) {
  size_t end = segment.size();
  while (end > 0 && !std::isalpha(static_cast<unsigned char>(segment[end - 1])))
    --end;
  if (end < 4)
    return false;
  std::string word = segment.substr(end - 4, 4);
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return word == "loss";
}

std::string listInputs(const std::vector<InputInfo> &inputs) {
  std::string list;
  for (const InputInfo &input : inputs)
    absl::StrAppend(&list, list.empty() ? "" : ", ", input.name);
  return list.empty() ? "the program has no inputs" : "its inputs are " + list;
}

} // namespace

ExecutionContext::Sink ExecutionContext::printerWithLabel(std::string label) {
  return [label = std::move(label)](std::string_view line) {
    static std::mutex mutex;
    std::lock_guard lock(mutex);
    return printToStandardOutput(absl::StrCat(label, toAbsl(line)));
  };
}

int exitCodeOf(const absl::Status &status) {
  switch (status.code()) {
  case absl::StatusCode::kOk:
    return 0;
  case absl::StatusCode::kInvalidArgument:
  case absl::StatusCode::kNotFound:
  case absl::StatusCode::kDataLoss:
  case absl::StatusCode::kOutOfRange:
  case absl::StatusCode::kFailedPrecondition:
    return 1;
  case absl::StatusCode::kCancelled:
    return 130;
  default:
    return 3;
  }
}

absl::StatusOr<std::unique_ptr<ExecutionContext>> ExecutionContext::create(ProgramInfo program,
                                                                           RunOptions options) {
  std::unique_ptr<ExecutionContext> context(
      new ExecutionContext(std::move(program), std::move(options)));
  if (absl::Status status = context->allocateVariables(); !status.ok())
    return status;
  return context;
}

ExecutionContext::ExecutionContext(ProgramInfo program, RunOptions options)
    : program_(std::move(program)), options_(std::move(options)), inputs_(program_.inputs.size()),
      fetched_(program_.fetches.size()), sources_(program_.sources.size()),
      sink_(printToStandardOutput), progress_(Progress::onStandardError(options_.isQuiet)) {
  line_.reserve(4096);
  loss_.reserve(64);
  findLosses();
  for (size_t i = 0; i < sources_.size(); ++i)
    if (auto begun = options_.passes.find(program_.sources[i].name); begun != options_.passes.end())
      sources_[i].passes = begun->second;
}

absl::Status ExecutionContext::takeUpVariables() {
  for (const TensorRef &kept : options_.variables) {
    auto hasName = [&](const VariableInfo &info) { return info.name == kept.name; };
    auto found = std::find_if(program_.variables.begin(), program_.variables.end(), hasName);
    if (found == program_.variables.end())
      continue;
    HostTensor &variable = variables()[static_cast<size_t>(found - program_.variables.begin())];
    if (variable.dtype() != kept.tensor->dtype() || variable.shape() != kept.tensor->shape())
      return absl::InvalidArgumentError(absl::StrCat("variable '", kept.name, "': expected ",
                                                     variable.typeString(), ", found ",
                                                     kept.tensor->typeString()));
    std::memcpy(variable.bytes(), kept.tensor->bytes(), static_cast<size_t>(variable.numBytes()));
  }
  return absl::OkStatus();
}

absl::Status ExecutionContext::allocateVariables() {
  for (const VariableInfo &variable : program_.variables) {
    absl::StatusOr<HostTensor> tensor = HostTensor::create(variable.dtype, variable.shape);
    if (!tensor.ok())
      return absl::Status(tensor.status().code(), absl::StrCat("variable '", variable.name,
                                                               "': ", tensor.status().message()));
    variables_.push_back(*std::move(tensor));
  }
  for (HostTensor &tensor : variables_)
    variableAddresses_.push_back(reinterpret_cast<char *>(tensor.bytes()));
  return absl::OkStatus();
}

void ExecutionContext::shareVariables(ExecutionContext &owner) {
  owner_ = &owner;
  isShared_ = owner.isShared_ = true;
  variables_.clear();
  variableAddresses_ = owner.variableAddresses_;
}

void ExecutionContext::findLosses() {
  for (const TextSite &site : program_.texts) {
    lossOf_.push_back(-1);
    for (size_t i = 0; i < site.values.size() && lossOf_.back() < 0; ++i)
      if (site.values[i].rank == 0 && announcesLoss(site.segments[i]))
        lossOf_.back() = static_cast<int64_t>(i);
  }
}

absl::Status ExecutionContext::feed(const std::string &name, HostTensor tensor) {
  for (size_t i = 0; i < program_.inputs.size(); ++i) {
    const InputInfo &info = program_.inputs[i];
    if (info.name != name)
      continue;
    if (tensor.dtype() != info.dtype || tensor.shape() != info.shape)
      return absl::InvalidArgumentError(absl::StrCat("input '", name, "': expected ",
                                                     typeString(info.dtype, info.shape), ", found ",
                                                     tensor.typeString()));
    inputs_[i] = std::move(tensor);
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no input '", name, "': ", listInputs(program_.inputs)));
}

absl::Status ExecutionContext::checkInputs() const {
  for (size_t i = 0; i < inputs_.size(); ++i)
    if (!inputs_[i])
      return absl::InvalidArgumentError(
          absl::StrCat("input '", program_.inputs[i].name, "' has no value: expected ",
                       typeString(program_.inputs[i].dtype, program_.inputs[i].shape), " (--feed ",
                       program_.inputs[i].name, "=FILE.npy)"));
  return absl::OkStatus();
}

bool ExecutionContext::call(CompiledFunction function) {
  return function(this, variableAddresses_.data(), arena_.data()) == 0;
}

bool ExecutionContext::run(CompiledFunction init, CompiledFunction main) {
  return initialize(init) && execute(main);
}

bool ExecutionContext::run(const std::function<bool()> &init, const std::function<bool()> &main) {
  return initialize(init) && execute(main);
}

bool ExecutionContext::initialize(CompiledFunction init) {
  absl::StatusOr<Arena> arena = Arena::create(program_.arenaBytes);
  if (!arena.ok())
    return fail(arena.status());
  arena_ = *std::move(arena);
  if (!pool_)
    pool_ = std::make_unique<ThreadPool>(options_.threads);
  return initialize([&] { return call(init); });
}

bool ExecutionContext::initialize(const std::function<bool()> &init) {
  error_ = RunError();
  prefetchData();
  absl::Status status = checkInputs();
  bool isDone = status.ok() && init();
  if (isDone && !options_.loadFile.empty())
    status = load(options_.loadFile, options_.loadOnly);
  if (isDone && status.ok())
    status = takeUpVariables();
  isInitialized_ = isDone && status.ok();
  if (!status.ok())
    fail(status);
  if (!isInitialized_)
    leave();
  return isInitialized_;
}

bool ExecutionContext::execute(CompiledFunction main) {
  return execute([&] { return call(main); });
}

bool ExecutionContext::execute(const std::function<bool()> &main) {
  // An interrupt during the last operation is one too: nothing is handed over.
  bool isDone = main() && poll();
  leave();
  assert((isDone || error_.exitCode != 0) && "a program stopped without saying why");
  return isDone;
}

// Peers that still wait for something from here learn that it does not come.
void ExecutionContext::leave() {
  progress_.clear();
  if (exchange_)
    exchange_->finish().IgnoreError();
}

absl::Status ExecutionContext::openData(int64_t source) {
  Source &state = sources_[static_cast<size_t>(source)];
  if (state.data)
    return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<DataSource>> data =
      DataSource::open(program_.sources[static_cast<size_t>(source)],
                       {options_.paths, options_.seed, &interrupted_});
  if (data.ok())
    state.data = *std::move(data);
  return data.status();
}

// Sources read their files in the background from the moment they are open. One that cannot be
// opened says so when the program comes to use it, if it ever does.
void ExecutionContext::prefetchData() {
  for (size_t source = 0; source < sources_.size(); ++source)
    openData(static_cast<int64_t>(source)).IgnoreError();
}

DataSource *ExecutionContext::dataOf(int64_t source) {
  if (absl::Status status = openData(source); !status.ok())
    fail(status);
  return sources_[static_cast<size_t>(source)].data.get();
}

bool ExecutionContext::openSource(int64_t source) {
  DataSource *data = dataOf(source);
  if (!data)
    return false;
  Source &state = sources_[static_cast<size_t>(source)];
  data->beginPass(state.passes++);
  state.isFirstBatch = true;
  return true;
}

int64_t ExecutionContext::nextBatch(int64_t source, char **fields) {
  const SourceInfo &info = program_.sources[static_cast<size_t>(source)];
  Source &state = sources_[static_cast<size_t>(source)];
  assert(state.data && "a batch of a source that was not opened");
  if (batchHook_)
    batchHook_(batches_);
  if (!poll())
    return -1;
  absl::StatusOr<DataBatch> batch = state.data->next();
  if (!batch.ok()) {
    fail(batch.status());
    return -1;
  }
  if (batch->n == 0)
    return 0;
  ++batches_;
  std::copy(batch->fields.begin(), batch->fields.end(), fields);
  if (state.isFirstBatch) {
    // Only now is the number of examples known without waiting, unless they are streamed.
    state.isFirstBatch = false;
    progress_.beginPass(info.name, state.data->knownBatches());
  }
  progress_.step();
  return batch->n;
}

int64_t ExecutionContext::sourceSize(int64_t source) {
  DataSource *data = dataOf(source);
  if (!data)
    return -1;
  absl::StatusOr<int64_t> size = data->size();
  if (size.ok())
    return *size;
  fail(size.status());
  return -1;
}

bool ExecutionContext::print(int64_t site, const char *const *values, const int64_t *dims) {
  // Straight-line code has no loop that would notice.
  if (!poll())
    return false;
  const TextSite &text = program_.texts[static_cast<size_t>(site)];
  line_.clear();
  appendText(text, values, dims, line_);
  if (int64_t loss = lossOf_[static_cast<size_t>(site)]; loss >= 0) {
    loss_.clear();
    appendValue(text.values[static_cast<size_t>(loss)], values[loss], nullptr, loss_);
    progress_.setLoss(loss_);
  }
  progress_.clear();
  absl::Status status = sink_(line_);
  return status.ok() || fail(status, text.location);
}

bool ExecutionContext::fetch(int64_t site, const char *value, const int64_t *dims) {
  const FetchInfo &info = program_.fetches[static_cast<size_t>(site)];
  std::optional<HostTensor> &kept = fetched_[static_cast<size_t>(site)];
  if (!kept || !std::equal(kept->shape().begin(), kept->shape().end(), dims)) {
    absl::StatusOr<HostTensor> tensor =
        HostTensor::create(info.dtype, std::vector<int64_t>(dims, dims + info.shape.size()));
    if (!tensor.ok())
      return fail(tensor.status());
    kept = *std::move(tensor);
  }
  if (kept->numBytes() != 0)
    std::memcpy(kept->bytes(), value, static_cast<size_t>(kept->numBytes()));
  return true;
}

bool ExecutionContext::fail(int64_t site, const char *const *values, const int64_t *dims) {
  if (error_.exitCode != 0)
    return false;
  const TextSite &text = program_.texts[static_cast<size_t>(site)];
  error_ = {text.code, text.location, "", text.excerpt, 1, false, batches_, site};
  appendText(text, values, dims, error_.message);
  return false;
}

// The first error stays: what follows is a consequence.
bool ExecutionContext::fail(const absl::Status &status, const std::string &location) {
  if (error_.exitCode != 0)
    return false;
  if (absl::IsCancelled(status))
    return failInterrupted();
  error_ = {"", location, std::string(status.message()), "", exitCodeOf(status), false, batches_};
  return false;
}

bool ExecutionContext::failInterrupted() {
  if (error_.exitCode == 0)
    error_ = {"", "", "interrupted", "", 130, false, batches_};
  return false;
}

void ExecutionContext::parallel(ThreadPool::Task task, void *args, int64_t tasks) {
  if (pool_)
    return pool_->run(task, args, tasks);
  for (int64_t i = 0; i < tasks; ++i)
    task(args, i, tasks);
}

const HostTensor *ExecutionContext::fetched(int64_t site) const {
  const std::optional<HostTensor> &kept = fetched_[static_cast<size_t>(site)];
  return kept ? &*kept : nullptr;
}

std::vector<TensorRef> ExecutionContext::fetchedValues() {
  std::vector<TensorRef> values;
  for (size_t i = 0; i < fetched_.size(); ++i)
    if (fetched_[i])
      values.push_back({program_.fetches[i].name, &*fetched_[i]});
  return values;
}

std::vector<TensorRef> ExecutionContext::namedVariables() {
  std::vector<TensorRef> refs;
  for (size_t i = 0; i < variables().size(); ++i)
    refs.push_back({program_.variables[i].name, &variables()[i]});
  return refs;
}

absl::Status ExecutionContext::load(const std::string &path, std::span<const std::string> only) {
  LoadReport report;
  absl::Status status = loadVariables(path, namedVariables(), only, &report);
  if (status.ok() && !options_.isQuiet)
    std::fputs(describe(report, path).c_str(), stderr);
  return status;
}

absl::Status ExecutionContext::save(const std::string &path) {
  return writeTensors(path, namedVariables());
}

} // namespace pdg
