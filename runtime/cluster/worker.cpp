// One process of a job: a stream to the leader, an exchange with the others, and a program.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cluster/worker.h"

#include "runtime/cluster/control.grpc.pb.h"
#include "runtime/cluster/messages.h"
#include "runtime/module/loaded_code.h"
#include "runtime/transport/wire/grpc_network.h"
#include "runtime/transport/wire/process_exchange.h"

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <sstream>
#include <thread>

namespace pdg {

namespace {

using Stream = grpc::ClientReaderWriter<cluster::Event, cluster::Command>;

/// How long the leader may take to answer at all.
constexpr std::chrono::seconds kLeaderLimit{30};

/// The exit code of what a user interrupted.
constexpr int kInterrupted = 130;

absl::StatusOr<Module> readOwnModule(const WorkerOptions &options) {
  if (options.key.empty())
    return readModuleFile(options.module);
  std::ifstream stream(options.key);
  std::stringstream text;
  text << stream.rdbuf();
  if (!stream)
    return absl::NotFoundError("cannot read the job's key " + options.key);
  auto key = VerifyingKey::fromPem(text.str());
  if (!key.ok())
    return key.status();
  return readModuleFile(options.module, &*key);
}

/// A run of one process. Two threads: the program's, and one that takes commands.
class Worker {
public:
  explicit Worker(const WorkerOptions &options) : options_(options) {}
  ~Worker();

  /// What there is to do before the leader can be told anything.
  absl::Status prepare();
  /// The run; returns its error, or one without an exit code.
  RunError run();
  /// Tells the leader how it ended, and waits until it has heard it.
  void end(const RunError &error);

private:
  absl::Status attach();
  absl::Status awaitStart();
  absl::Status makeContext();
  absl::Status connect();
  void takeCommands();
  bool write(const cluster::Event &event);
  bool isFirst() const { return exchange_->self() == Peer{PeerKind::Trainer, 0}; }
  void stop(const absl::Status &cause);
  Progress progressBar();
  bool sendVariables();
  absl::Status sendResults();

  const WorkerOptions options_;
  Module module_;
  std::unique_ptr<LoadedCode> code_;
  std::unique_ptr<ProcessExchange> exchange_;
  std::unique_ptr<ExecutionContext> context_;
  std::vector<NamedTensor> variables_; ///< With which the program starts.
  cluster::Start start_;
  TensorAssembly inputs_, loaded_;

  grpc::ClientContext call_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<cluster::Control::Stub> stub_;
  std::unique_ptr<Stream> stream_;
  std::mutex writing_;
  std::thread reader_;
  std::atomic<bool> isEnding_ = false;
};

Worker::~Worker() {
  if (reader_.joinable()) {
    call_.TryCancel();
    reader_.join();
  }
}

absl::Status Worker::prepare() {
  auto module = readOwnModule(options_);
  if (!module.ok())
    return module.status();
  module_ = *std::move(module);
  auto code = LoadedCode::load(module_, options_.isa);
  if (!code.ok())
    return code.status();
  code_ = *std::move(code);
  module_.code.clear();
  ProcessOptions exchange;
  exchange.topology = {module_.trainers, module_.servers, module_.info.edges};
  exchange.self = {module_.role,
                   module_.role == PeerKind::Trainer ? options_.replica : module_.index};
  exchange.job = options_.job;
  exchange.manifestHash = module_.cluster;
  exchange.host = options_.host;
  exchange.sharesMemory = options_.sharesMemory;
  exchange.log = [this](const std::string &text) {
    cluster::Event event;
    event.set_note(text);
    write(event);
  };
  auto listening = ProcessExchange::listen(std::move(exchange));
  if (!listening.ok())
    return listening.status();
  exchange_ = *std::move(listening);
  return attach();
}

absl::Status Worker::attach() {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  channel_ =
      grpc::CreateCustomChannel(options_.leader, grpc::InsecureChannelCredentials(), arguments);
  if (!channel_->WaitForConnected(std::chrono::system_clock::now() + kLeaderLimit))
    return absl::UnavailableError("cannot reach the job's leader at " + options_.leader);
  stub_ = cluster::Control::NewStub(channel_);
  stream_ = stub_->Attach(&call_);
  cluster::Event event;
  cluster::Hello &hello = *event.mutable_hello();
  hello.set_version(kControlVersion);
  hello.set_job(options_.job);
  hello.set_kind(static_cast<uint32_t>(exchange_->self().kind));
  hello.set_index(exchange_->self().index);
  hello.set_address(options_.host + ":" + std::to_string(exchange_->port()));
  if (!write(event))
    return absl::UnavailableError("the job's leader at " + options_.leader + " hung up");
  return absl::OkStatus();
}

bool Worker::write(const cluster::Event &event) {
  std::lock_guard lock(writing_);
  return stream_ && stream_->Write(event);
}

/// Takes commands up to the start of the program.
absl::Status Worker::awaitStart() {
  cluster::Command command;
  while (stream_->Read(&command)) {
    absl::Status status;
    if (command.has_input())
      status = inputs_.add(command.input());
    else if (command.has_variable())
      status = loaded_.add(command.variable());
    else if (command.body_case() == cluster::Command::kStop)
      return absl::CancelledError(command.stop());
    if (!status.ok())
      return status;
    if (command.has_start()) {
      start_ = command.start();
      return absl::OkStatus();
    }
  }
  return absl::UnavailableError("the job's leader at " + options_.leader + " hung up");
}

/// Commands while the program runs. The end of the stream is the end of the job.
void Worker::takeCommands() {
  cluster::Command command;
  while (stream_->Read(&command)) {
    if (command.body_case() == cluster::Command::kStop)
      stop(absl::AbortedError(command.stop()));
    else if (command.interrupt())
      context_->interrupt();
  }
  if (!isEnding_)
    stop(absl::UnavailableError("the job's leader is gone"));
}

void Worker::stop(const absl::Status &cause) {
  exchange_->stop(cause);
  context_->interrupt();
}

absl::Status Worker::makeContext() {
  auto variables = loaded_.take(), inputs = inputs_.take();
  for (const absl::Status &status : {variables.status(), inputs.status()})
    if (!status.ok())
      return status;
  variables_ = *std::move(variables);
  RunOptions options;
  options.paths = {start_.script_dir(), start_.data_dir()};
  options.seed = start_.seed();
  options.threads = start_.threads();
  options.isQuiet = true;
  for (NamedTensor &variable : variables_)
    options.variables.push_back({variable.name, &variable.tensor});
  auto context = ExecutionContext::create(module_.info, std::move(options));
  if (!context.ok())
    return context.status();
  context_ = *std::move(context);
  for (NamedTensor &input : *inputs)
    if (absl::Status status = context_->feed(input.name, std::move(input.tensor)); !status.ok())
      return status;
  if (isFirst() && start_.columns() > 0)
    context_->setProgress(progressBar());
  context_->setSink([this](std::string_view line) {
    cluster::Event event;
    event.set_line(std::string(line));
    return write(event) ? absl::OkStatus() : absl::UnavailableError("the job's leader is gone");
  });
  return absl::OkStatus();
}

/// A bar on the leader's terminal. What a lost leader does not see is no error of its own.
Progress Worker::progressBar() {
  Progress::Terminal terminal;
  terminal.write = [this](std::string_view bytes) {
    cluster::Event event;
    event.set_progress(std::string(bytes));
    write(event);
  };
  terminal.now = [] {
    auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
  };
  terminal.columns = start_.columns();
  terminal.hasColors = start_.has_colors();
  return Progress(std::move(terminal));
}

absl::Status Worker::connect() {
  std::map<Peer, std::string> addresses;
  for (const cluster::Start::Address &address : start_.addresses())
    addresses[{address.kind() == 0 ? PeerKind::Trainer : PeerKind::Server, address.index()}] =
        address.address();
  return exchange_->connect(addresses);
}

/// The variables of this process, if the leader wants them. Those of all trainers are equal.
bool Worker::sendVariables() {
  bool isSent = true;
  if (start_.sends_variables() && (isFirst() || exchange_->self().kind == PeerKind::Server))
    for (const TensorRef &variable : context_->namedVariables())
      isSent = isSent && sendInPieces(variable, [&](cluster::Tensor piece) {
                 cluster::Event event;
                 *event.mutable_variable() = std::move(piece);
                 return write(event);
               });
  return isSent;
}

/// What a run returns: of trainer 0 the fetched values, and the variables.
absl::Status Worker::sendResults() {
  bool isSent = true;
  if (isFirst())
    for (const TensorRef &value : context_->fetchedValues())
      isSent = isSent && sendInPieces(value, [&](cluster::Tensor piece) {
                 cluster::Event event;
                 *event.mutable_fetched() = std::move(piece);
                 return write(event);
               });
  return isSent && sendVariables() ? absl::OkStatus()
                                   : absl::UnavailableError("the job's leader is gone");
}

/// An error of the world as that of a run.
RunError errorOf(const absl::Status &status) {
  RunError error;
  error.message = std::string(status.message());
  error.exitCode = exitCodeOf(status);
  return error;
}

RunError Worker::run() {
  for (auto step : {&Worker::awaitStart, &Worker::makeContext})
    if (absl::Status status = (this->*step)(); !status.ok())
      return errorOf(status);
  reader_ = std::thread([this] { takeCommands(); });
  if (absl::Status status = connect(); !status.ok())
    return errorOf(status);
  context_->join(*exchange_);
  bool isDone = context_->run(code_->init(), code_->main());
  // Also after an error: the others go on as far as they can without this process, so which errors
  // there are does not depend on who is faster.
  absl::Status status = exchange_->finish();
  if (!isDone) {
    // Trainer 0 was interrupted between two rounds, and all others ended where they needed it: the
    // variables belong together. Whether that is what happened only the leader knows.
    const RunError &error = context_->error();
    bool mayBeWanted = status.ok() && (error.exitCode == kInterrupted || error.isConsequence);
    if (context_->isInitialized() && mayBeWanted)
      sendVariables();
    return error;
  }
  if (status.ok())
    status = sendResults();
  return status.ok() ? RunError() : errorOf(status);
}

void Worker::end(const RunError &error) {
  cluster::Event event;
  *event.mutable_ended() = toMessage(error);
  write(event);
  isEnding_ = true;
  {
    std::lock_guard lock(writing_);
    stream_->WritesDone();
  }
  // The leader closes its half when it has read ours.
  if (reader_.joinable())
    return reader_.join();
  cluster::Command command;
  while (stream_->Read(&command)) {
  }
}

} // namespace

int runWorker(const WorkerOptions &options) {
  keepMessageMemory();
  Worker worker(options);
  if (absl::Status status = worker.prepare(); !status.ok()) {
    std::fprintf(stderr, "pdworker: %s\n", std::string(status.message()).c_str());
    return exitCodeOf(status);
  }
  RunError error = worker.run();
  worker.end(error);
  return error.exitCode;
}

} // namespace pdg
