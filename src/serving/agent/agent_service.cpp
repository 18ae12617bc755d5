// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/artefact_store.hpp"
#include "d5/serving/agent/agent_link.hpp"
#include "evaluation/manifest/kept_manifests.hpp"
#include "serving/agent/agent_stream.hpp"
#include "serving/agent/agent_words.hpp"
#include "serving/grpc/grpc_listening.hpp"
#include "serving/grpc/grpc_parts.hpp"

namespace d5::detail {
namespace {

constexpr std::chrono::milliseconds kLapseLook{500};
constexpr int kSpareThreads = 8;  // threads that wait for new streams

GrpcPlace agent_place(const AgentLinkOptions& options) {
  return {.what = "agents",
          .host = options.host,
          .port = options.port,
          .certificate = options.certificate,
          .key = options.key,
          .tokens = options.tokens,
          .most_message_bytes = kMostMessageBytes,
          .most_threads = options.most_agents + kSpareThreads};
}

class AgentServing final : public agent::AgentService::Service, public ListeningService {
 public:
  AgentServing(JobQueue& queue, const std::string& database, const AgentLinkOptions& options)
      : results_(EvaluationDatabase::open(database)),
        models_(options.models),
        hall_{queue, *results_},
        listening_(*this, agent_place(options)),
        lapsing_([this](const std::stop_token& stop) { lapse(stop); }) {}
  ~AgentServing() override { close(); }

  void close() {
    lapsing_ = {};
    {
      const std::lock_guard lock(hall_.mutex);
      hall_.closing = true;
      for (auto& [name, stream] : hall_.present) stream->end();
    }
    hall_.queue.wake();
    listening_.stop();
  }
  void stop() override { close(); }
  [[nodiscard]] int port() const override { return listening_.port(); }
  [[nodiscard]] std::string address() const override { return listening_.address(); }

  grpc::Status Attend(grpc::ServerContext* context, AgentStream::Wire* wire) override {
    if (!is_agent(*context)) return no_agent();
    AgentStream stream(hall_, *context, *wire);
    try {
      stream.attend();
      return grpc::Status::OK;
    } catch (const IoError& error) {  // the database failed; it may recover
      return {grpc::StatusCode::UNAVAILABLE, printable_message(error.what())};
    } catch (const std::exception& error) {
      return {grpc::StatusCode::INVALID_ARGUMENT, printable_message(error.what())};
    }
  }

  grpc::Status Fetch(grpc::ServerContext* context, const agent::Wanted* wanted,
                     grpc::ServerWriter<agent::FilePiece>* wire) override {
    if (!is_agent(*context)) return no_agent();
    try {
      const std::string& sha256 = wanted->sha256();
      check_digest(sha256, "a file");
      const ArtefactStore store = kept_store(models_);
      if (models_.empty() || !store.has(sha256)) {
        return {grpc::StatusCode::NOT_FOUND, "the server keeps no file of this digest"};
      }
      bool is_heard = true;
      for_each_piece(store.path_of(sha256), [&](std::string_view bytes) {
        agent::FilePiece piece;
        piece.set_bytes(bytes.data(), bytes.size());
        is_heard = is_heard && wire->Write(piece);
      });
      return grpc::Status::OK;
    } catch (const std::exception& error) {
      return {grpc::StatusCode::INTERNAL, printable_message(error.what())};
    }
  }

 private:
  [[nodiscard]] bool is_agent(const grpc::ServerContext& context) const {
    const auto role = listening_.role_of(context);
    return role && *role >= ServingRole::admin;
  }
  static grpc::Status no_agent() {
    return {grpc::StatusCode::UNAUTHENTICATED, "an agent needs a token of the role admin"};
  }

  void lapse(const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    while (!stop.stop_requested()) {
      try {
        (void)hall_.queue.lapse();
      } catch (const std::exception&) {  // the database is busy or away: retry soon
      }
      (void)stopped.wait_for(lock, stop, kLapseLook, [] { return false; });
    }
  }

  std::unique_ptr<EvaluationDatabase> results_;
  std::string models_;  ///< folder of kept models; empty: none
  AgentHall hall_;
  GrpcListening listening_;
  std::jthread lapsing_;
};

}  // namespace

std::unique_ptr<ListeningService> make_agent_service(JobQueue& queue, const std::string& database,
                                                     const AgentLinkOptions& options) {
  return std::make_unique<AgentServing>(queue, database, options);
}

}  // namespace d5::detail
