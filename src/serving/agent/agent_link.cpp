// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/agent_link.hpp"

#include <chrono>
#include <thread>

#include "d5/core/error.hpp"
#include "serving/agent/agent_stream.hpp"
#include "serving/agent/agent_words.hpp"
#include "serving/grpc/grpc_listening.hpp"

namespace d5 {
namespace {

constexpr std::chrono::milliseconds kLapseLook{500};
constexpr int kSpareThreads = 8;  // that wait for new streams

detail::GrpcPlace place_of(const AgentLinkOptions& options) {
  return {.what = "agents",
          .host = options.host,
          .port = options.port,
          .certificate = options.certificate,
          .key = options.key,
          .tokens = options.tokens,
          .most_message_bytes = detail::kMostMessageBytes,
          .most_threads = options.most_agents + kSpareThreads};
}

}  // namespace

class AgentLink::Listening final : public agent::AgentService::Service {
 public:
  Listening(JobQueue& queue, const std::string& database, const AgentLinkOptions& options)
      : results_(EvaluationDatabase::open(database)),
        hall_{queue, *results_},
        listening_(*this, place_of(options)),
        lapsing_([this](const std::stop_token& stop) { lapse(stop); }) {}
  ~Listening() override { stop(); }

  void stop() {
    lapsing_ = {};
    {
      const std::lock_guard lock(hall_.mutex);
      hall_.closing = true;
      for (auto& [name, stream] : hall_.present) stream->end();
    }
    hall_.queue.wake();
    listening_.stop();
  }
  [[nodiscard]] int port() const { return listening_.port(); }
  [[nodiscard]] std::string address() const { return listening_.address(); }

  grpc::Status Attend(grpc::ServerContext* context, detail::AgentStream::Wire* wire) override {
    const auto role = listening_.role_of(*context);
    if (!role || *role < ServingRole::admin) {
      return {grpc::StatusCode::UNAUTHENTICATED, "an agent needs a token of the role admin"};
    }
    detail::AgentStream stream(hall_, *context, *wire);
    try {
      stream.attend();
      return grpc::Status::OK;
    } catch (const IoError& error) {  // of the database: it may come back
      return {grpc::StatusCode::UNAVAILABLE, printable_message(error.what())};
    } catch (const std::exception& error) {
      return {grpc::StatusCode::INVALID_ARGUMENT, printable_message(error.what())};
    }
  }

 private:
  void lapse(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      try {
        (void)hall_.queue.lapse();
      } catch (const std::exception&) {  // the database is busy or away: soon again
      }
      for (int i = 0; i < 10 && !stop.stop_requested(); ++i) {
        std::this_thread::sleep_for(kLapseLook / 10);
      }
    }
  }

  std::unique_ptr<EvaluationDatabase> results_;
  detail::AgentHall hall_;
  detail::GrpcListening listening_;
  std::jthread lapsing_;
};

AgentLink::AgentLink(JobQueue& queue, const std::string& database, const AgentLinkOptions& options)
    : listening_(std::make_unique<Listening>(queue, database, options)) {}
AgentLink::~AgentLink() = default;
int AgentLink::port() const { return listening_->port(); }
std::string AgentLink::address() const { return listening_->address(); }
void AgentLink::stop() { listening_->stop(); }

}  // namespace d5
