// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <optional>

#include "d5/core/atomic_file.hpp"
#include "d5/core/error.hpp"
#include "d5/serving/access_tokens.hpp"
#include "d5/serving/http_server.hpp"
#include "d5/serving/inference_service.hpp"
#include "serving/inference/grpc_messages.hpp"
#include "serving/inference/open_inference.grpc.pb.h"

namespace d5 {
namespace {

constexpr std::size_t kMostCertificateBytes = std::size_t{1} << 20;
constexpr std::size_t kMostErrorBytes = 2000;  // clients take 8 KiB of metadata

grpc::StatusCode code_of(const std::exception& error) {
  if (dynamic_cast<const NotFound*>(&error)) return grpc::StatusCode::NOT_FOUND;
  if (dynamic_cast<const Unsupported*>(&error)) return grpc::StatusCode::UNIMPLEMENTED;
  if (dynamic_cast<const MemoryError*>(&error)) return grpc::StatusCode::RESOURCE_EXHAUSTED;
  const bool was_asked_wrongly =
      dynamic_cast<const ValueError*>(&error) || dynamic_cast<const FormatError*>(&error) ||
      dynamic_cast<const TypeError*>(&error) || dynamic_cast<const ShapeError*>(&error);
  return was_asked_wrongly ? grpc::StatusCode::INVALID_ARGUMENT : grpc::StatusCode::INTERNAL;
}

/// The status of what `answer` does.
template <class Answer>
grpc::Status answered(const Answer& answer) {
  try {
    answer();
    return grpc::Status::OK;
  } catch (const std::exception& error) {
    return {code_of(error), printable_message(error.what()).substr(0, kMostErrorBytes)};
  }
}

std::shared_ptr<grpc::ServerCredentials> credentials(const InferenceServiceOptions& options) {
  if (options.certificate.empty()) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions tls;
  tls.pem_key_cert_pairs.push_back({read_file(options.key, kMostCertificateBytes),
                                    read_file(options.certificate, kMostCertificateBytes)});
  return grpc::SslServerCredentials(tls);
}

}  // namespace

class InferenceService::Listening final : public inference::GRPCInferenceService::Service {
 public:
  Listening(InferenceModels& models, const InferenceServiceOptions& options)
      : models_(models), host_(options.host), is_safe_(!options.certificate.empty()) {
    if (!is_loopback(host_) && (options.tokens.empty() || options.certificate.empty())) {
      throw ValueError(fmt::format(
          "'{}' is an address of other machines: give tokens and a certificate with its key, or "
          "127.0.0.1",
          printable(host_)));
    }
    if (!options.tokens.empty()) tokens_.emplace(options.tokens);
    grpc::ServerBuilder builder;
    const bool is_bare_ipv6 = host_.find(':') != std::string::npos && host_[0] != '[';
    const std::string host = is_bare_ipv6 ? "[" + host_ + "]" : host_;
    builder.AddListeningPort(fmt::format("{}:{}", host, options.port), credentials(options),
                             &port_);
    builder.SetMaxReceiveMessageSize(int(options.most_message_bytes));
    builder.SetResourceQuota(
        grpc::ResourceQuota("d5 inference").SetMaxThreads(options.most_threads));
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // a port is one server's
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
    if (!server_ || port_ == 0) {
      throw IoError(fmt::format("cannot listen on '{}:{}' for gRPC: is the port taken?",
                                printable(host_), options.port));
    }
  }
  ~Listening() override { stop(); }

  void stop() {
    server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(2));
    server_->Wait();
  }
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] std::string address() const {
    return fmt::format("{}://{}:{}", is_safe_ ? "grpcs" : "grpc", host_, port_);
  }

  grpc::Status ServerLive(grpc::ServerContext*, const inference::ServerLiveRequest*,
                          inference::ServerLiveResponse* response) override {
    response->set_live(true);
    return grpc::Status::OK;
  }
  grpc::Status ServerReady(grpc::ServerContext*, const inference::ServerReadyRequest*,
                           inference::ServerReadyResponse* response) override {
    response->set_ready(true);
    return grpc::Status::OK;
  }
  grpc::Status ServerMetadata(grpc::ServerContext* context, const inference::ServerMetadataRequest*,
                              inference::ServerMetadataResponse* response) override {
    return allowed(*context, ServingRole::view, [&] {
      const InferenceServerInfo server = models_.server();
      response->set_name(server.name);
      response->set_version(server.version);
      for (const std::string& extension : server.extensions) response->add_extensions(extension);
    });
  }
  grpc::Status ModelReady(grpc::ServerContext* context, const inference::ModelReadyRequest* request,
                          inference::ModelReadyResponse* response) override {
    return allowed(*context, ServingRole::run, [&] {
      (void)models_.model(request->name(), request->version());
      response->set_ready(true);
    });
  }
  grpc::Status ModelMetadata(grpc::ServerContext* context,
                             const inference::ModelMetadataRequest* request,
                             inference::ModelMetadataResponse* response) override {
    return allowed(*context, ServingRole::run, [&] {
      detail::fill(*response, models_.model(request->name(), request->version()));
    });
  }
  grpc::Status ModelInfer(grpc::ServerContext* context, const inference::ModelInferRequest* request,
                          inference::ModelInferResponse* response) override {
    return allowed(*context, ServingRole::run,
                   [&] { detail::fill(*response, models_.infer(detail::request_of(*request))); });
  }

 private:
  template <class Answer>
  grpc::Status allowed(const grpc::ServerContext& context, ServingRole role, const Answer& answer) {
    if (tokens_) {
      constexpr std::string_view kBearer = "Bearer ";
      const auto told = context.client_metadata().find("authorization");
      const std::string text = told == context.client_metadata().end()
                                   ? std::string()
                                   : std::string(told->second.data(), told->second.size());
      const auto given =
          text.starts_with(kBearer) ? tokens_->role_of(text.substr(kBearer.size())) : std::nullopt;
      if (!given) return {grpc::StatusCode::UNAUTHENTICATED, "authorization: Bearer TOKEN"};
      if (*given < role) {
        return {grpc::StatusCode::PERMISSION_DENIED,
                fmt::format("this takes the role {}", name_of(role))};
      }
    }
    return answered(answer);
  }

  InferenceModels& models_;
  std::string host_;
  bool is_safe_;
  std::optional<AccessTokens> tokens_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

InferenceService::InferenceService(InferenceModels& models, const InferenceServiceOptions& options)
    : listening_(std::make_unique<Listening>(models, options)) {}
InferenceService::~InferenceService() = default;
int InferenceService::port() const { return listening_->port(); }
std::string InferenceService::address() const { return listening_->address(); }
void InferenceService::stop() { listening_->stop(); }

}  // namespace d5
