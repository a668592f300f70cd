// The leader of a job: a server for the control streams, and the processes of the job.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cluster/leader.h"

#include "runtime/cluster/child_process.h"
#include "runtime/cluster/control.grpc.pb.h"
#include "runtime/cluster/descriptor.h"
#include "runtime/cluster/lost_process.h"
#include "runtime/cluster/messages.h"

#include <absl/strings/str_cat.h>
#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <csignal>
#include <mutex>
#include <poll.h>
#include <sys/eventfd.h>
#include <thread>
#include <tuple>
#include <unistd.h>

namespace pdg {

namespace {

using Stream = grpc::ServerReaderWriter<cluster::Command, cluster::Event>;
using Clock = std::chrono::steady_clock;

/// How long processes have to end after the first of them failed, and after they were told to.
constexpr std::chrono::milliseconds kEndLimit{1000};

/// How long the system may take to clear away a process that is dead to the others.
constexpr std::chrono::seconds kDeathLimit{3};

/// How long they have after an interrupt, when their variables are wanted.
constexpr std::chrono::seconds kSaveLimit{60};

/// How long all processes have to join.
constexpr std::chrono::seconds kJoinLimit{60};

/// One process of the job, as its leader sees it.
struct Member {
  Peer peer;
  std::optional<ChildProcess> process;
  std::string address;      ///< Empty until it joined.
  Stream *stream = nullptr; ///< While it is attached.
  std::optional<RunError> ended;
  bool isGone = true;  ///< The process is not yet, or no more.
  bool isRead = false; ///< Somebody still reads what it said.
  TensorAssembly fetched, variables;
};

class LocalJob final : public Job, public cluster::Control::Service {
public:
  explicit LocalJob(JobOptions options) : options_(std::move(options)), name_(makeJobName()) {}
  ~LocalJob() override;

  absl::Status listen();
  JobResult run() override;
  void interrupt() noexcept override;

  grpc::Status Attach(grpc::ServerContext *call, Stream *stream) override;

private:
  absl::Status startProcesses();
  absl::Status startProgram();
  bool awaitJoined();
  void awaitEnd();
  void watch();
  void endProcesses();
  void noteEnd(Member &member);
  void explainEnd(Member &member);
  void explainLoss();
  void sendInterrupt();
  void stopAll(const std::string &why);
  void take(Member &member, const cluster::Event &event);
  grpc::Status refuse(const std::string &why);
  bool allOf(bool (*holds)(const Member &)) const;
  bool hasFailed() const;
  JobResult collect();

  JobOptions options_;
  std::string name_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
  Descriptor wake_; ///< Counted up to wake the watcher.
  std::vector<Descriptor> modules_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::vector<std::unique_ptr<Member>> members_;
  std::optional<RunError> failure_; ///< Of the world, found here.
  std::optional<Peer> lost_;        ///< Whose end that is.
  bool isEnding_ = false;

  std::mutex commanding_;  ///< Of all that writes to streams.
  bool isStarted_ = false; ///< All know what to run. Guarded by commanding_.
  std::mutex printing_;
  std::thread watcher_;
  std::atomic<bool> isInterrupted_ = false;
};

LocalJob::~LocalJob() {
  if (server_)
    server_->Shutdown(std::chrono::system_clock::now());
}

absl::Status LocalJob::listen() {
  wake_.value = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(-1);
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
  if (!server_ || port_ == 0 || wake_.value < 0)
    return absl::UnavailableError("cannot listen for the processes of the job at 127.0.0.1");
  return absl::OkStatus();
}

/// Whose module a process runs: all trainers have that of the first.
Peer roleOf(Peer peer) {
  return peer.kind == PeerKind::Trainer ? Peer{PeerKind::Trainer, 0} : peer;
}

//===- Starting ------------------------------------------------------------===//

absl::Status LocalJob::startProcesses() {
  std::map<Peer, int> descriptors;
  for (const auto &[peer, bytes] : options_.modules) {
    auto file = shareBytes(bytes);
    if (!file.ok())
      return file.status();
    descriptors[peer] = file->value;
    modules_.push_back(*std::move(file));
  }
  // All are known before the first is started: it may join at once.
  for (Peer peer : allPeers(options_.topology)) {
    members_.push_back(std::make_unique<Member>());
    members_.back()->peer = peer;
  }
  for (const auto &member : members_) {
    Peer peer = member->peer;
    std::vector<std::string> arguments{options_.worker,
                                       "--join",
                                       absl::StrCat("127.0.0.1:", port_),
                                       "--job",
                                       name_,
                                       "--replica",
                                       absl::StrCat(peer.index),
                                       "--module",
                                       absl::StrCat("/dev/fd/", descriptors[roleOf(peer)])};
    if (!options_.isa.empty())
      arguments.insert(arguments.end(), {"--isa", options_.isa});
    auto process = ChildProcess::start(arguments);
    if (!process.ok())
      return process.status();
    std::lock_guard lock(mutex_);
    member->process.emplace(*std::move(process));
    member->isGone = false;
  }
  return absl::OkStatus();
}

bool LocalJob::allOf(bool (*holds)(const Member &)) const {
  return std::all_of(members_.begin(), members_.end(),
                     [&](const auto &member) { return holds(*member); });
}

bool LocalJob::hasFailed() const {
  return failure_ || std::any_of(members_.begin(), members_.end(), [](const auto &member) {
           return member->ended && member->ended->exitCode != 0;
         });
}

/// Waits until all processes joined; false if one of them will not.
bool LocalJob::awaitJoined() {
  std::unique_lock lock(mutex_);
  bool isInTime = changed_.wait_for(lock, kJoinLimit, [&] {
    return hasFailed() || allOf([](const Member &member) { return member.stream != nullptr; });
  });
  if (isInTime)
    return !hasFailed();
  std::string missing;
  for (const auto &member : members_)
    if (!member->stream)
      missing += (missing.empty() ? "" : ", ") + nameOf(member->peer);
  failure_ = RunError{};
  failure_->message = "did not join the job: " + missing;
  failure_->exitCode = 3;
  return false;
}

/// Sends the inputs, the variables that a process has, and the word to start.
absl::Status LocalJob::startProgram() {
  cluster::Command start;
  cluster::Start &options = *start.mutable_start();
  for (const auto &member : members_) {
    cluster::Start::Address &address = *options.add_addresses();
    address.set_kind(static_cast<uint32_t>(member->peer.kind));
    address.set_index(member->peer.index);
    address.set_address(member->address);
  }
  options.set_seed(options_.seed);
  options.set_threads(options_.threads);
  options.set_script_dir(options_.paths.scriptDir);
  options.set_data_dir(options_.paths.dataDir);
  options.set_sends_variables(options_.sendsVariables);
  options.set_columns(options_.progressColumns);
  options.set_has_colors(options_.hasColors);
  std::map<Peer, ProgramInfo> programs;
  for (const auto &[role, bytes] : options_.modules) {
    auto module = readModule(bytes, nameOf(role));
    if (!module.ok())
      return module.status();
    programs[role] = std::move(module->info);
  }
  std::lock_guard lock(commanding_);
  for (const auto &member : members_) {
    // Lost since it joined: the watcher says so.
    if (!member->stream)
      continue;
    const ProgramInfo &program = programs.at(roleOf(member->peer));
    auto send = [&](const TensorRef &tensor, bool isInput) {
      return sendInPieces(tensor, [&](cluster::Tensor piece) {
        cluster::Command command;
        *(isInput ? command.mutable_input() : command.mutable_variable()) = std::move(piece);
        return member->stream->Write(command);
      });
    };
    for (const InputInfo &input : program.inputs)
      if (auto found = options_.inputs.find(input.name); found != options_.inputs.end())
        send({input.name, &found->second}, true);
    for (const VariableInfo &variable : program.variables)
      for (NamedTensor &value : options_.variables)
        if (value.name == variable.name)
          send({value.name, &value.tensor}, false);
    member->stream->Write(start);
  }
  isStarted_ = true;
  // Asked for while nobody would have listened.
  if (isInterrupted_)
    sendInterrupt();
  return absl::OkStatus();
}

//===- While it runs -------------------------------------------------------===//

grpc::Status LocalJob::refuse(const std::string &why) {
  return {grpc::StatusCode::PERMISSION_DENIED, why};
}

grpc::Status LocalJob::Attach(grpc::ServerContext *, Stream *stream) {
  cluster::Event event;
  if (!stream->Read(&event) || !event.has_hello())
    return refuse("a process says hello first");
  const cluster::Hello hello = event.hello();
  if (hello.version() != kControlVersion || hello.job() != name_ || hello.kind() > 1)
    return refuse("not a process of this job");
  Member *member = nullptr;
  {
    std::lock_guard lock(mutex_);
    for (const auto &candidate : members_)
      if (candidate->peer == Peer{static_cast<PeerKind>(hello.kind()), hello.index()} &&
          candidate->address.empty())
        member = candidate.get();
    if (!member || isEnding_)
      return refuse("nobody of this number is missing");
    member->address = hello.address();
    member->stream = stream;
    member->isRead = true;
  }
  changed_.notify_all();
  while (stream->Read(&event))
    take(*member, event);
  std::unique_lock lock(mutex_);
  member->isRead = false;
  explainEnd(*member);
  // Others may still write to this stream.
  changed_.notify_all();
  changed_.wait(lock, [&] { return isEnding_ || member->ended || member->isGone; });
  lock.unlock();
  // A process that has nothing to do ends before the write that started it returns.
  std::scoped_lock unused(commanding_, mutex_);
  member->stream = nullptr;
  return grpc::Status::OK;
}

void LocalJob::take(Member &member, const cluster::Event &event) {
  if (event.body_case() == cluster::Event::kLine) {
    std::lock_guard lock(printing_);
    options_.print(event.line());
    return;
  }
  if (event.body_case() == cluster::Event::kProgress) {
    std::lock_guard lock(printing_);
    if (options_.progress)
      options_.progress(event.progress());
    return;
  }
  if (event.body_case() == cluster::Event::kNote) {
    std::lock_guard lock(printing_);
    if (options_.note)
      options_.note(nameOf(member.peer) + ": " + event.note());
    return;
  }
  absl::Status status;
  if (event.has_fetched())
    status = member.fetched.add(event.fetched());
  else if (event.has_variable())
    status = member.variables.add(event.variable());
  std::lock_guard lock(mutex_);
  if (!status.ok() && !failure_) {
    failure_ = RunError{};
    failure_->message = nameOf(member.peer) + ": " + std::string(status.message());
    failure_->exitCode = 3;
  }
  if (event.has_ended())
    member.ended = fromMessage(event.ended());
  changed_.notify_all();
}

void LocalJob::noteEnd(Member &member) {
  // Others ask whether it ended before they kill it.
  std::lock_guard lock(mutex_);
  if (!member.process->waitFor(std::chrono::milliseconds(0)))
    return;
  member.isGone = true;
  explainEnd(member);
  changed_.notify_all();
}

/// If a process has ended, and everything it said was read, and it did not say why: this is why.
void LocalJob::explainEnd(Member &member) {
  if (member.process && member.isGone && !member.isRead && !member.ended && !failure_ &&
      !isEnding_) {
    failure_ = RunError{};
    failure_->message = absl::StrCat(nameOf(member.peer), " (process ", member.process->pid(), ") ",
                                     member.process->describeEnd());
    failure_->exitCode = 3;
    lost_ = member.peer;
  }
}

/// Watches the processes, and passes an interrupt on.
void LocalJob::watch() {
  while (true) {
    std::vector<pollfd> watched{{wake_.value, POLLIN, 0}};
    std::vector<Member *> members;
    for (const auto &member : members_)
      if (!member->isGone) {
        watched.push_back({member->process->descriptor(), POLLIN, 0});
        members.push_back(member.get());
      }
    if (members.empty())
      return;
    if (poll(watched.data(), watched.size(), -1) < 0)
      continue;
    if (watched[0].revents) {
      uint64_t count = 0;
      [[maybe_unused]] ssize_t size = read(wake_.value, &count, sizeof count);
      std::lock_guard lock(commanding_);
      if (isInterrupted_ && isStarted_)
        sendInterrupt();
    }
    for (size_t i = 0; i < members.size(); ++i)
      if (watched[i + 1].revents)
        noteEnd(*members[i]);
  }
}

/// Interrupts trainer 0: the others end where they need it. Requires: commanding_ is held.
void LocalJob::sendInterrupt() {
  cluster::Command command;
  command.set_interrupt(true);
  std::lock_guard lock(mutex_);
  if (members_[0]->stream && !members_[0]->ended)
    members_[0]->stream->Write(command);
}

void LocalJob::interrupt() noexcept {
  isInterrupted_ = true;
  uint64_t one = 1;
  [[maybe_unused]] ssize_t size = write(wake_.value, &one, sizeof one);
}

/// Waits until all programs ended, or one failed and the others had their time.
void LocalJob::awaitEnd() {
  auto isOver = [&] {
    return allOf([](const Member &member) { return member.ended || member.isGone; });
  };
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return hasFailed() || isOver(); });
  bool isSaving = options_.sendsVariables && !failure_ && isInterrupted_;
  if (isSaving)
    changed_.wait_for(lock, kSaveLimit, [&] { return failure_ || isOver(); });
  else
    changed_.wait_for(lock, kEndLimit, isOver);
}

/// Joins what is known of a lost process: how it ended, which is seen here, and what the others
/// missed of it. One that is lost to the others and has not ended is frozen, or cut off.
void LocalJob::explainLoss() {
  std::unique_lock lock(mutex_);
  if (failure_ && !lost_)
    return;
  for (const auto &member : members_)
    for (const auto &witness : members_) {
      if (!witness->ended || member->ended || (lost_ && lost_ != member->peer))
        continue;
      std::optional<MissedMessage> missed = findMissed(member->peer, *witness->ended);
      if (!missed)
        continue;
      // The others may notice a death before the system has cleared the process away.
      if (!failure_ && !member->process->isStopped())
        changed_.wait_for(lock, kDeathLimit, [&] { return failure_.has_value(); });
      if (!failure_) {
        failure_ = RunError{};
        failure_->message = absl::StrCat(nameOf(member->peer), " (process ", member->process->pid(),
                                         ") stopped answering");
        failure_->exitCode = 3;
      }
      if (!missed->text.empty())
        failure_->message += "; " + missed->text;
      failure_->location = missed->place;
      return;
    }
}

//===- The end -------------------------------------------------------------===//

void LocalJob::stopAll(const std::string &why) {
  std::scoped_lock lock(commanding_, mutex_);
  cluster::Command command;
  command.set_stop(why);
  for (const auto &member : members_)
    if (member->stream && !member->ended)
      member->stream->Write(command);
}

/// Ends all processes: those that do not end when they are told to are killed.
void LocalJob::endProcesses() {
  std::string why = "the job has ended";
  {
    std::lock_guard lock(mutex_);
    if (failure_)
      why = failure_->message;
  }
  stopAll(why);
  {
    std::lock_guard lock(mutex_);
    isEnding_ = true;
  }
  changed_.notify_all();
  auto end = Clock::now() + kEndLimit;
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, end,
                      [&] { return allOf([](const Member &member) { return member.isGone; }); });
  for (const auto &member : members_)
    if (!member->isGone)
      member->process->kill();
  lock.unlock();
  if (watcher_.joinable())
    watcher_.join();
  server_->Shutdown(std::chrono::system_clock::now() + kEndLimit);
}

JobResult LocalJob::collect() {
  JobResult result;
  auto rank = [](const RunError &error) {
    return std::tuple(error.isConsequence, error.batches, error.site);
  };
  if (failure_)
    result.error = *failure_;
  for (const auto &member : members_)
    if (member->ended && member->ended->exitCode != 0 &&
        (result.error.exitCode == 0 || (!failure_ && rank(*member->ended) < rank(result.error))))
      result.error = *member->ended;
  for (const auto &member : members_) {
    auto fetched = member->fetched.take(), variables = member->variables.take();
    for (const auto *tensors : {&fetched, &variables})
      if (!tensors->ok() && result.error.exitCode == 0) {
        result.error.message = std::string(tensors->status().message());
        result.error.exitCode = 3;
      }
    if (fetched.ok())
      std::move(fetched->begin(), fetched->end(), std::back_inserter(result.fetched));
    if (variables.ok())
      std::move(variables->begin(), variables->end(), std::back_inserter(result.variables));
  }
  return result;
}

JobResult LocalJob::run() {
  absl::Status status = startProcesses();
  watcher_ = std::thread([this] { watch(); });
  if (status.ok() && awaitJoined()) {
    status = startProgram();
    if (status.ok()) {
      awaitEnd();
      explainLoss();
    }
  }
  if (!status.ok()) {
    std::lock_guard lock(mutex_);
    failure_ = RunError{};
    failure_->message = std::string(status.message());
    failure_->exitCode = exitCodeOf(status);
  }
  endProcesses();
  return collect();
}

} // namespace

absl::StatusOr<std::unique_ptr<Job>> Job::create(JobOptions options) {
  auto job = std::make_unique<LocalJob>(std::move(options));
  if (absl::Status status = job->listen(); !status.ok())
    return status;
  return job;
}

} // namespace pdg
