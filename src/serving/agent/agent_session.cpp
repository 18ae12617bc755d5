// SPDX-License-Identifier: Apache-2.0
#include "serving/agent/agent_session.hpp"

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "serving/agent/agent.grpc.pb.h"
#include "serving/agent/agent_words.hpp"
#include "serving/grpc/grpc_parts.hpp"

namespace d5::detail {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kHeartbeat{2000};
constexpr milliseconds kFirstPause{50}, kLongestPause{2000};  // before a stream is reopened
constexpr std::size_t kMostPem = std::size_t{1} << 20;

std::shared_ptr<grpc::Channel> channel_to(const AgentOptions& options) {
  std::shared_ptr<grpc::ChannelCredentials> credentials = grpc::InsecureChannelCredentials();
  if (!options.authorities.empty()) {
    grpc::SslCredentialsOptions tls;
    tls.pem_root_certs = read_file(options.authorities, kMostPem);
    credentials = grpc::SslCredentials(tls);
  }
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMostMessageBytes);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, int(kFirstPause.count()));
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, int(kFirstPause.count()));
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, int(kLongestPause.count()));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, int(5 * kHeartbeat.count()));
  return grpc::CreateCustomChannel(options.server, credentials, arguments);
}

/// Whether a retry cannot help.
bool is_refusal(grpc::StatusCode code) {
  return code == grpc::StatusCode::UNAUTHENTICATED || code == grpc::StatusCode::INVALID_ARGUMENT ||
         code == grpc::StatusCode::UNIMPLEMENTED;
}

AgentNews news_of(const agent::ToAgent& words) {
  using What = AgentNews::What;
  switch (words.what_case()) {
    case agent::ToAgent::kWelcome:
      return {What::welcome};
    case agent::ToAgent::kWork: {
      AgentNews news{What::work, lease_of(words.work().attempt(), "")};
      news.lease.manifest = words.work().manifest();
      return news;
    }
    case agent::ToAgent::kGone:
      return {What::gone, lease_of(words.gone(), "")};
    case agent::ToAgent::kTaken:
      return {What::taken, lease_of(words.taken(), "")};
    default:
      return {What::nothing};
  }
}

using Told = std::function<void(AgentNews)>;  // on other threads, one call at a time

/// Sends on the open stream.
class Talk {
 public:
  Talk(const AgentOptions& options, std::string facts, std::vector<Lease> kept, Told told)
      : stub_(agent::AgentService::NewStub(channel_to(options))),
        token_(options.token),
        facts_(std::move(facts)),
        kept_(std::move(kept)),
        told_(std::move(told)),
        heart_([this](const std::stop_token& stop) { beat(stop); }),
        talking_([this](const std::stop_token& stop) { talk(stop); }) {}
  ~Talk() {
    talking_.request_stop();
    {
      const std::lock_guard lock(mutex_);
      if (context_) context_->TryCancel();
    }
    pausing_.notify_all();
  }
  Talk(const Talk&) = delete;
  Talk& operator=(const Talk&) = delete;

  /// The number of the open stream.
  [[nodiscard]] std::int64_t stream() {
    const std::lock_guard lock(mutex_);
    return stream_;
  }
  /// Returns false if none is open, or another one than `stream`.
  bool say(const agent::FromAgent& words, std::int64_t stream) {
    const std::lock_guard lock(mutex_);
    return wire_ && is_greeted_ && stream == stream_ && wire_->Write(words);
  }
  bool say(const agent::FromAgent& words) { return say(words, stream()); }

  bool fetch(const std::string& sha256, const std::function<void(std::string_view)>& hear,
             const Interrupt& interrupt) {
    grpc::ClientContext context;
    if (!token_.empty()) context.AddMetadata("authorization", "Bearer " + token_);
    const std::stop_callback cancel(interrupt.token, [&context] { context.TryCancel(); });
    agent::Wanted wanted;
    wanted.set_sha256(sha256);
    const auto wire = stub_->Fetch(&context, wanted);
    agent::FilePiece piece;
    while (wire->Read(&piece)) hear(piece.bytes());
    const grpc::Status status = wire->Finish();
    interrupt.check("fetching a file");
    if (status.ok()) return true;
    using enum grpc::StatusCode;
    if (status.error_code() == NOT_FOUND || status.error_code() == UNIMPLEMENTED) return false;
    throw IoError(fmt::format("the server does not send the file {}: {}", sha256,
                              printable_message(status.error_message())));
  }

 private:
  using Wire = grpc::ClientReaderWriter<agent::FromAgent, agent::ToAgent>;

  void talk(const std::stop_token& stop) {
    milliseconds pause = kFirstPause;
    while (!stop.stop_requested()) {
      grpc::ClientContext context;
      if (!token_.empty()) context.AddMetadata("authorization", "Bearer " + token_);
      const grpc::Status status = one_stream(context, stop, pause);
      if (stop.stop_requested()) return;
      const bool refused = is_refusal(status.error_code());
      told_({refused ? AgentNews::What::refused : AgentNews::What::broken,
             {},
             status.error_message()});
      if (refused) return;
      std::unique_lock lock(mutex_);
      pausing_.wait_for(lock, pause, [&] { return stop.stop_requested(); });
      pause = std::min(2 * pause, kLongestPause);
    }
  }

  grpc::Status one_stream(grpc::ClientContext& context, const std::stop_token& stop,
                          milliseconds& pause) {
    std::unique_ptr<Wire> wire = stub_->Attend(&context);
    {
      const std::lock_guard lock(mutex_);
      if (stop.stop_requested()) context.TryCancel();
      context_ = &context;
      wire_ = wire.get();
      ++stream_;
      agent::FromAgent words;
      words.mutable_hello()->set_protocol(kAgentProtocol);
      words.mutable_hello()->set_facts(facts_);
      for (const Lease& lease : kept_) *words.mutable_hello()->add_kept() = attempt_of(lease);
      (void)wire->Write(words);
    }
    agent::ToAgent said;
    while (wire->Read(&said)) {
      pause = kFirstPause;
      AgentNews news = news_of(said);
      remember(news);
      told_(std::move(news));
    }
    const std::lock_guard lock(mutex_);
    wire_ = nullptr;
    context_ = nullptr;
    is_greeted_ = false;
    return wire->Finish();
  }

  /// News that the server must learn at the next hello.
  void remember(const AgentNews& news) {
    const std::lock_guard lock(mutex_);
    if (news.what == AgentNews::What::welcome) is_greeted_ = true;
    if (news.what == AgentNews::What::work) kept_.push_back(news.lease);
    if (news.what != AgentNews::What::gone && news.what != AgentNews::What::taken) return;
    std::erase_if(kept_, [&](const Lease& lease) { return lease.is_same_attempt(news.lease); });
  }

  void beat(const std::stop_token& stop) {
    agent::FromAgent words;
    (void)words.mutable_heartbeat();
    std::unique_lock lock(mutex_);
    while (!pausing_.wait_for(lock, stop, kHeartbeat, [] { return false; }) &&
           !stop.stop_requested()) {
      if (wire_ && is_greeted_) (void)wire_->Write(words);
    }
  }

  std::unique_ptr<agent::AgentService::Stub> stub_;
  std::string token_, facts_;
  std::mutex mutex_;  ///< guards the following
  std::condition_variable_any pausing_;
  std::vector<Lease> kept_;
  grpc::ClientContext* context_ = nullptr;
  Wire* wire_ = nullptr;
  std::int64_t stream_ = 0;
  bool is_greeted_ = false;
  Told told_;
  std::jthread heart_, talking_;
};

class OpenSession final : public AgentSession {
 public:
  OpenSession(const AgentOptions& options, std::string facts, std::vector<Lease> kept, Told told)
      : talk_(options, std::move(facts), std::move(kept), std::move(told)) {}

  bool ready() override {
    agent::FromAgent words;
    (void)words.mutable_ready();
    return talk_.say(words);
  }

  bool begun(const Lease& lease) override {
    agent::FromAgent words;
    *words.mutable_begun() = attempt_of(lease);
    return talk_.say(words);
  }

  bool progress(const Lease& lease, const std::string& text) override {
    agent::FromAgent words;
    *words.mutable_progress()->mutable_attempt() = attempt_of(lease);
    words.mutable_progress()->set_text(text);
    return talk_.say(words);
  }

  bool deliver(const AgentOutcome& outcome, const std::string& file) override {
    agent::FromAgent words;
    Sha256 digest;
    const std::int64_t stream = talk_.stream();  // everything goes through one stream, or nothing
    bool heard = true;
    if (!file.empty()) {
      for_each_piece(file, [&](std::string_view bytes) {
        if (!heard) return;
        digest.add(bytes);
        words.mutable_spool()->set_bytes(bytes.data(), bytes.size());
        heard = talk_.say(words, stream);
      });
    }
    if (!heard) return false;
    words.Clear();
    agent::Outcome& told = *words.mutable_outcome();
    *told.mutable_attempt() = attempt_of(outcome.lease);
    told.set_end(outcome.end == AgentOutcome::End::done   ? agent::Outcome::DONE
                 : outcome.end == AgentOutcome::End::lost ? agent::Outcome::LOST
                                                          : agent::Outcome::FAILED);
    told.set_reason(outcome.reason);
    if (!file.empty()) told.set_sha256(digest.digest());
    return talk_.say(words, stream);
  }

  bool fetch(const std::string& sha256, const std::function<void(std::string_view)>& hear,
             const Interrupt& interrupt) override {
    return talk_.fetch(sha256, hear, interrupt);
  }

 private:
  Talk talk_;
};

}  // namespace

std::unique_ptr<AgentSession> make_agent_session(const AgentOptions& options, std::string facts,
                                                 std::vector<Lease> kept, Told told) {
  return std::make_unique<OpenSession>(options, std::move(facts), std::move(kept), std::move(told));
}

}  // namespace d5::detail
