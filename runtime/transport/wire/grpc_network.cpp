// Streams over gRPC's completion-queue interface. SPDX-License-Identifier: Apache-2.0
#include "runtime/transport/wire/grpc_network.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <deque>
#include <malloc.h>
#include <mutex>
#include <optional>
#include <sched.h>
#include <thread>
#include <vector>

namespace pdg {

namespace {

constexpr char kMethod[] = "/pdg.Exchange/Stream";
constexpr int kFrameBytes = 1 << 20;
/// Messages are at most 4 MiB and some headers; whatever is larger is none of ours.
constexpr int kMaxMessageBytes = 5 << 20;
/// Smaller payloads are copied: that costs less than being told when they left.
constexpr size_t kCopyBelow = 16 << 10;

/// What the completion queue returns: each operation has one.
struct Completion {
  virtual ~Completion() = default;
  virtual void complete(bool ok) = 0;
};

/// A completion that calls a method of its owner.
template <typename Owner, void (Owner::*Method)(bool)> struct Calls : Completion {
  explicit Calls(Owner &owner) : owner(owner) {}
  void complete(bool ok) override { (owner.*Method)(ok); }
  Owner &owner;
};

/// Settings of both sides, by gRPC's names. A peer that does not answer a ping, which needs its
/// network's thread and nothing else, is found after three seconds.
template <typename SetInt> void forEachSetting(SetInt set) {
  set(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kFrameBytes);
  set(GRPC_ARG_TSI_MAX_FRAME_SIZE, kFrameBytes);
  set(GRPC_ARG_KEEPALIVE_TIME_MS, 1000);
  set(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 2000);
  set(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  set(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  set(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 500);
  set(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
  set(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, kMaxMessageBytes);
  set(GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, kMaxMessageBytes);
  set(GRPC_ARG_ENABLE_RETRIES, 0);
  set(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // Otherwise channels to one address share a connection, and a listener shares its port.
  set(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  set(GRPC_ARG_ALLOW_REUSEPORT, 0);
  set(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 20);
  set(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 1000);
  set(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 200);
}

std::shared_ptr<grpc::ServerCredentials>
serverCredentials(const std::optional<TlsIdentity> &identity) {
  if (!identity)
    return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions options(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = identity->authority;
  options.pem_key_cert_pairs.push_back({identity->key, identity->certificate});
  return grpc::SslServerCredentials(options);
}

std::shared_ptr<grpc::ChannelCredentials>
clientCredentials(const std::optional<TlsIdentity> &identity) {
  if (!identity)
    return grpc::InsecureChannelCredentials();
  return grpc::SslCredentials({identity->authority, identity->key, identity->certificate});
}

bool isLoopback(const std::string &host) {
  return host == "localhost" || host == "[::1]" || absl::StartsWith(host, "127.");
}

/// A stream of either side: reads and writes, one of each at a time.
class Stream : public NetworkStream {
public:
  void write(std::span<StreamMessage> messages) override;
  void writeLast(StreamMessage message) override;
  void cancel() override;

protected:
  virtual void startRead(grpc::ByteBuffer &buffer, Completion &completion) = 0;
  virtual void startWrite(const grpc::ByteBuffer &buffer, Completion &completion) = 0;
  /// Asks gRPC why the stream ended; then `completion`.
  virtual void startFinish(Completion &completion) = 0;
  virtual void tryCancel() = 0;
  /// Nothing happens on the stream any more.
  virtual void ended() = 0;

  /// The stream can be used from here on.
  void open();
  /// The stream cannot be used: ends it.
  void fail();

  std::shared_ptr<StreamEvents> events_;

private:
  void wasRead(bool ok);
  void wasWritten(bool ok);
  void wasFinished(bool) { ended(); }
  grpc::ByteBuffer toBuffer(StreamMessage &message);
  static void payloadLeft(void *self);

  struct Payload {
    Leaving *leaving;
    std::shared_ptr<StreamEvents> events;
  };

  Calls<Stream, &Stream::wasRead> readDone_{*this};
  Calls<Stream, &Stream::wasWritten> writeDone_{*this};
  Calls<Stream, &Stream::wasFinished> finishDone_{*this};
  grpc::ByteBuffer incoming_;
  std::vector<std::string_view> pieces_;

  std::mutex mutex_;
  std::deque<grpc::ByteBuffer> waiting_;
  bool isOpen_ = false;
  bool isWriting_ = false;
  bool isClosed_ = false;
  bool isReadEnded_ = false;
};

void Stream::payloadLeft(void *self) {
  std::unique_ptr<Payload> payload(static_cast<Payload *>(self));
  if (payload->leaving->end())
    payload->events->onLeft();
}

grpc::ByteBuffer Stream::toBuffer(StreamMessage &message) {
  if (message.payload.size() < kCopyBelow) {
    grpc::Slice slice(message.head.size() + message.payload.size());
    auto *bytes = const_cast<uint8_t *>(slice.begin());
    std::copy(message.head.begin(), message.head.end(), bytes);
    std::copy(message.payload.begin(), message.payload.end(), bytes + message.head.size());
    if (message.leaving && message.leaving->end())
      events_->onLeft();
    return grpc::ByteBuffer(&slice, 1);
  }
  auto *bytes = const_cast<char *>(message.payload.data());
  grpc::Slice slices[] = {grpc::Slice(message.head),
                          message.leaving ? grpc::Slice(bytes, message.payload.size(), payloadLeft,
                                                        new Payload{message.leaving, events_})
                                          : grpc::Slice(bytes, message.payload.size())};
  return grpc::ByteBuffer(slices, 2);
}

void Stream::write(std::span<StreamMessage> messages) {
  // Buffers are made and dropped without the lock: that tells the listener what has left.
  std::vector<grpc::ByteBuffer> buffers;
  for (StreamMessage &message : messages)
    buffers.push_back(toBuffer(message));
  const grpc::ByteBuffer *next = nullptr;
  {
    std::lock_guard lock(mutex_);
    if (isClosed_)
      return;
    for (grpc::ByteBuffer &buffer : buffers)
      waiting_.push_back(std::move(buffer));
    if (isOpen_ && !isWriting_ && !waiting_.empty()) {
      isWriting_ = true;
      next = &waiting_.front();
    }
  }
  // Nor does gRPC write under the lock, which its thread wants as soon as that is done.
  if (next)
    startWrite(*next, writeDone_);
}

void Stream::writeLast(StreamMessage message) {
  std::deque<grpc::ByteBuffer> dropped;
  {
    std::lock_guard lock(mutex_);
    // gRPC may be reading the first one.
    auto kept = waiting_.begin() + (isWriting_ ? 1 : 0);
    dropped.assign(std::move_iterator(kept), std::move_iterator(waiting_.end()));
    waiting_.erase(kept, waiting_.end());
  }
  write({&message, 1});
}

void Stream::wasWritten(bool ok) {
  std::deque<grpc::ByteBuffer> done;
  const grpc::ByteBuffer *next = nullptr;
  {
    std::lock_guard lock(mutex_);
    if (ok && !isClosed_) {
      done.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
      isWriting_ = !waiting_.empty();
      next = isWriting_ ? &waiting_.front() : nullptr;
    } else {
      isClosed_ = true;
      isWriting_ = false;
      done.swap(waiting_);
      if (isReadEnded_)
        startFinish(finishDone_);
    }
  }
  if (next)
    startWrite(*next, writeDone_);
}

void Stream::open() {
  {
    std::lock_guard lock(mutex_);
    isOpen_ = true;
  }
  write({});
  startRead(incoming_, readDone_);
}

void Stream::wasRead(bool ok) {
  if (!ok) {
    std::deque<grpc::ByteBuffer> dropped;
    std::lock_guard lock(mutex_);
    isReadEnded_ = true;
    isClosed_ = true;
    if (isWriting_)
      tryCancel();
    else {
      dropped.swap(waiting_);
      startFinish(finishDone_);
    }
    return;
  }
  std::vector<grpc::Slice> slices;
  pieces_.clear();
  if (incoming_.Dump(&slices).ok())
    for (const grpc::Slice &slice : slices)
      pieces_.emplace_back(reinterpret_cast<const char *>(slice.begin()), slice.size());
  bool hasWoken = events_->onMessage(pieces_);
  incoming_.Clear();
  slices.clear();
  // The next read makes gRPC busy. A thread that answers meanwhile would find it so, and its write
  // would be passed on to a third thread: a quarter of the time of a small message there and back.
  if (hasWoken)
    sched_yield();
  startRead(incoming_, readDone_);
}

void Stream::fail() {
  {
    std::lock_guard lock(mutex_);
    isReadEnded_ = true;
    isClosed_ = true;
  }
  startFinish(finishDone_);
}

void Stream::cancel() {
  std::lock_guard lock(mutex_);
  if (isOpen_)
    tryCancel();
}

/// What streams need of their network.
class StreamOwner {
public:
  virtual ~StreamOwner() = default;
  /// A new stream arrived: who listens? Also asks for the one after it.
  virtual std::shared_ptr<StreamEvents> accept(NetworkStream &stream) = 0;
  /// A stream has no operation left.
  virtual void streamEnded() = 0;
};

class ClientStream : public Stream {
public:
  ClientStream(StreamOwner &owner, const std::string &address,
               const std::shared_ptr<grpc::ChannelCredentials> &credentials,
               std::shared_ptr<StreamEvents> events)
      : owner_(owner), address_(address) {
    events_ = std::move(events);
    grpc::ChannelArguments arguments;
    forEachSetting([&](const char *name, int value) { arguments.SetInt(name, value); });
    // The job's authority vouches for the process, not for its host.
    arguments.SetSslTargetNameOverride("pdg");
    stub_.emplace(grpc::CreateCustomChannel(address, credentials, arguments));
    context_.set_wait_for_ready(true);
  }

  void start(grpc::CompletionQueue &queue) {
    call_ = stub_->PrepareCall(&context_, kMethod, &queue);
    call_->StartCall(&started_);
  }

  /// Unlike a stream from another process, one that is not open yet can be cancelled too.
  void cancel() override { context_.TryCancel(); }

  std::string address() const override { return address_; }

protected:
  void startRead(grpc::ByteBuffer &buffer, Completion &done) override {
    call_->Read(&buffer, &done);
  }
  void startWrite(const grpc::ByteBuffer &buffer, Completion &done) override {
    call_->Write(buffer, &done);
  }
  void startFinish(Completion &done) override { call_->Finish(&status_, &done); }
  void tryCancel() override { context_.TryCancel(); }
  void ended() override {
    events_->onEnd(status_.error_message());
    owner_.streamEnded();
  }

private:
  void wasStarted(bool ok) {
    if (ok)
      open();
    else
      fail();
  }

  StreamOwner &owner_;
  const std::string address_;
  std::optional<grpc::GenericStub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
  grpc::Status status_;
  Calls<ClientStream, &ClientStream::wasStarted> started_{*this};
};

class ServerStream : public Stream {
public:
  explicit ServerStream(StreamOwner &owner) : owner_(owner), call_(&context_) {}

  void request(grpc::AsyncGenericService &service, grpc::ServerCompletionQueue &queue) {
    service.RequestCall(&context_, &call_, &queue, &queue, &arrived_);
  }

  std::string address() const override { return context_.peer(); }

protected:
  void startRead(grpc::ByteBuffer &buffer, Completion &done) override {
    call_.Read(&buffer, &done);
  }
  void startWrite(const grpc::ByteBuffer &buffer, Completion &done) override {
    call_.Write(buffer, &done);
  }
  void startFinish(Completion &done) override {
    call_.Finish(events_ ? grpc::Status::OK : grpc::Status(grpc::StatusCode::UNIMPLEMENTED, ""),
                 &done);
  }
  void tryCancel() override { context_.TryCancel(); }
  void ended() override {
    if (events_)
      events_->onEnd("");
    owner_.streamEnded();
  }

private:
  void hasArrived(bool ok) {
    if (!ok)
      return owner_.streamEnded();
    std::shared_ptr<StreamEvents> events = owner_.accept(*this);
    if (context_.method() != kMethod)
      return fail();
    events_ = std::move(events);
    open();
  }

  StreamOwner &owner_;
  grpc::GenericServerContext context_;
  grpc::GenericServerAsyncReaderWriter call_;
  Calls<ServerStream, &ServerStream::hasArrived> arrived_{*this};
};

class Network : public GrpcNetwork, public StreamOwner {
public:
  Network(std::optional<TlsIdentity> identity, OnStream onStream)
      : identity_(std::move(identity)), onStream_(std::move(onStream)) {}

  absl::Status start(const std::string &host) {
    grpc::ServerBuilder builder;
    forEachSetting([&](const char *name, int value) { builder.AddChannelArgument(name, value); });
    builder.AddListeningPort(host + ":0", serverCredentials(identity_), &port_);
    builder.RegisterAsyncGenericService(&service_);
    queue_ = builder.AddCompletionQueue();
    server_ = builder.BuildAndStart();
    if (!server_ || port_ == 0)
      return absl::UnavailableError(absl::StrCat("cannot listen at ", host));
    thread_ = std::jthread([this] {
      void *tag;
      for (bool ok; queue_->Next(&tag, &ok);)
        static_cast<Completion *>(tag)->complete(ok);
    });
    requestStream();
    return absl::OkStatus();
  }

  ~Network() override {
    std::unique_lock lock(mutex_);
    isEnding_ = true;
    for (std::unique_ptr<NetworkStream> &stream : streams_)
      stream->cancel();
    lock.unlock();
    if (server_)
      server_->Shutdown(std::chrono::system_clock::now());
    lock.lock();
    // No operation may begin after the queue's shutdown.
    allEnded_.wait(lock, [this] { return active_ == 0; });
    lock.unlock();
    if (queue_)
      queue_->Shutdown();
    if (thread_.joinable()) {
      thread_.join();
      return;
    }
    // It never ran, so it has nothing to take out, but the queue insists on being emptied.
    void *tag;
    for (bool ok; queue_ && queue_->Next(&tag, &ok);) {
    }
  }

  int port() const override { return port_; }

  NetworkStream &dial(const std::string &address, std::shared_ptr<StreamEvents> events) override {
    auto stream = std::make_unique<ClientStream>(*this, address, clientCredentials(identity_),
                                                 std::move(events));
    ClientStream &made = *stream;
    std::lock_guard lock(mutex_);
    streams_.push_back(std::move(stream));
    ++active_;
    made.start(*queue_);
    return made;
  }

  std::shared_ptr<StreamEvents> accept(NetworkStream &stream) override {
    requestStream();
    return onStream_(stream);
  }

  void streamEnded() override {
    std::lock_guard lock(mutex_);
    --active_;
    allEnded_.notify_all();
  }

private:
  void requestStream() {
    std::lock_guard lock(mutex_);
    if (isEnding_)
      return;
    auto stream = std::make_unique<ServerStream>(*this);
    ServerStream &made = *stream;
    streams_.push_back(std::move(stream));
    ++active_;
    made.request(service_, *queue_);
  }

  const std::optional<TlsIdentity> identity_;
  OnStream onStream_;
  grpc::AsyncGenericService service_;
  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
  std::mutex mutex_;
  std::condition_variable allEnded_;
  std::vector<std::unique_ptr<NetworkStream>> streams_;
  size_t active_ = 0;
  bool isEnding_ = false;
  std::jthread thread_;
};

} // namespace

absl::StatusOr<std::unique_ptr<GrpcNetwork>>
GrpcNetwork::listen(const std::string &host, const std::optional<TlsIdentity> &identity,
                    OnStream onStream) {
  if (!identity && !isLoopback(host))
    return absl::PermissionDeniedError(
        absl::StrCat("expects TLS to listen at ", host, ", which others can reach"));
  auto network = std::make_unique<Network>(identity, std::move(onStream));
  if (absl::Status status = network->start(host); !status.ok())
    return status;
  return network;
}

void keepMessageMemory() {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 2000000000);
  mallopt(M_TOP_PAD, 64 << 20);
}

} // namespace pdg
