// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/agent_link.hpp"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <thread>

#include "d5/core/atomic_file.hpp"
#include "d5/core/error.hpp"
#include "d5/serving/access_tokens.hpp"
#include "d5/serving/http_server.hpp"
#include "serving/agent/agent_stream.hpp"
#include "serving/agent/agent_words.hpp"

namespace d5 {
namespace {

constexpr std::size_t kMostPemBytes = std::size_t{1} << 20;
constexpr std::chrono::milliseconds kLapseLook{500};

std::shared_ptr<grpc::ServerCredentials> link_credentials(const AgentLinkOptions& options) {
  if (options.certificate.empty()) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions tls;
  tls.pem_key_cert_pairs.push_back(
      {read_file(options.key, kMostPemBytes), read_file(options.certificate, kMostPemBytes)});
  return grpc::SslServerCredentials(tls);
}

std::string bracketed(const std::string& host) {
  const bool is_bare_ipv6 = host.find(':') != std::string::npos && host[0] != '[';
  return is_bare_ipv6 ? "[" + host + "]" : host;
}

}  // namespace

class AgentLink::Listening final : public agent::AgentService::Service {
 public:
  Listening(JobQueue& queue, const std::string& database, const AgentLinkOptions& options)
      : results_(EvaluationDatabase::open(database)),
        hall_{queue, *results_},
        host_(bracketed(options.host)) {
    if (!is_loopback(options.host) && (options.tokens.empty() || options.certificate.empty())) {
      throw ValueError(fmt::format(
          "'{}' is an address of other machines: give tokens and a certificate with its key, or "
          "127.0.0.1",
          printable(options.host)));
    }
    if (!options.tokens.empty()) tokens_.emplace(options.tokens);
    grpc::ServerBuilder builder;
    builder.AddListeningPort(fmt::format("{}:{}", host_, options.port), link_credentials(options),
                             &port_);
    builder.SetMaxReceiveMessageSize(detail::kMostMessageBytes);
    builder.SetResourceQuota(
        grpc::ResourceQuota("d5 agents").SetMaxThreads(options.most_agents + kSpareThreads));
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // a port is one server's
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
    if (!server_ || port_ == 0) {
      throw IoError(fmt::format("cannot listen on '{}:{}' for agents: is the port taken?",
                                printable(host_), options.port));
    }
    lapsing_ = std::jthread([this](const std::stop_token& stop) { lapse(stop); });
  }
  ~Listening() override { stop(); }

  void stop() {
    lapsing_ = {};
    {
      const std::lock_guard lock(hall_.mutex);
      hall_.closing = true;
      for (auto& [name, stream] : hall_.present) stream->end();
    }
    hall_.queue.wake();
    server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(2));
    server_->Wait();
  }
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] std::string address() const { return fmt::format("{}:{}", host_, port_); }

  grpc::Status Attend(grpc::ServerContext* context, detail::AgentStream::Wire* wire) override {
    const std::string denied = why_denied(*context);
    if (!denied.empty()) return {grpc::StatusCode::UNAUTHENTICATED, denied};
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
  static constexpr int kSpareThreads = 8;  // that wait for new streams

  [[nodiscard]] std::string why_denied(const grpc::ServerContext& context) const {
    if (!tokens_) return {};
    constexpr std::string_view kBearer = "Bearer ";
    const auto told = context.client_metadata().find("authorization");
    if (told == context.client_metadata().end()) return "an agent needs a token of the role admin";
    const std::string text(told->second.data(), told->second.size());
    const auto role =
        text.starts_with(kBearer) ? tokens_->role_of(text.substr(kBearer.size())) : std::nullopt;
    return role && *role >= ServingRole::admin ? "" : "this token is not one of the role admin";
  }

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
  std::string host_;
  std::optional<AccessTokens> tokens_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
  std::jthread lapsing_;
};

AgentLink::AgentLink(JobQueue& queue, const std::string& database, const AgentLinkOptions& options)
    : listening_(std::make_unique<Listening>(queue, database, options)) {}
AgentLink::~AgentLink() = default;
int AgentLink::port() const { return listening_->port(); }
std::string AgentLink::address() const { return listening_->address(); }
void AgentLink::stop() { listening_->stop(); }

}  // namespace d5
