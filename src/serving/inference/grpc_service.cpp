// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <climits>

#include "d5/core/errors/error.hpp"
#include "d5/serving/inference/inference_service.hpp"
#include "serving/grpc/grpc_listening.hpp"
#include "serving/grpc/grpc_parts.hpp"
#include "serving/inference/grpc_messages.hpp"
#include "serving/inference/open_inference.grpc.pb.h"

namespace d5::detail {
namespace {

constexpr std::size_t kMostErrorBytes = 2000;  // clients take 8 KiB of metadata

grpc::StatusCode code_of(const std::exception& error) {
  if (dynamic_cast<const MemoryError*>(&error)) return grpc::StatusCode::RESOURCE_EXHAUSTED;
  switch (http_status_of(error)) {
    case 404:
      return grpc::StatusCode::NOT_FOUND;
    case 422:
      return grpc::StatusCode::INVALID_ARGUMENT;
    case 501:
      return grpc::StatusCode::UNIMPLEMENTED;
    case 503:
      return grpc::StatusCode::UNAVAILABLE;
    default:
      return grpc::StatusCode::INTERNAL;
  }
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

GrpcPlace inference_place(const InferenceServiceOptions& options) {
  return {.what = "inference",
          .host = options.host,
          .port = options.port,
          .certificate = options.certificate,
          .key = options.key,
          .tokens = options.tokens,
          .most_message_bytes = int(std::min<std::size_t>(options.most_message_bytes, INT_MAX)),
          .most_threads = options.most_threads};
}

class InferenceServing final : public inference::GRPCInferenceService::Service,
                               public ListeningService {
 public:
  InferenceServing(InferenceModels& models, const InferenceServiceOptions& options)
      : models_(models),
        scheme_(options.certificate.empty() ? "grpc" : "grpcs"),
        listening_(*this, inference_place(options)) {}
  ~InferenceServing() override { listening_.stop(); }

  void stop() override { listening_.stop(); }
  [[nodiscard]] int port() const override { return listening_.port(); }
  [[nodiscard]] std::string address() const override {
    return fmt::format("{}://{}", scheme_, listening_.address());
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
      response->set_ready(models_.why_not_ready(request->name(), request->version()).empty());
    });
  }
  grpc::Status ModelMetadata(grpc::ServerContext* context,
                             const inference::ModelMetadataRequest* request,
                             inference::ModelMetadataResponse* response) override {
    return allowed(*context, ServingRole::run,
                   [&] { fill(*response, models_.model(request->name(), request->version())); });
  }
  grpc::Status ModelConfig(grpc::ServerContext* context,
                           const inference::ModelConfigRequest* request,
                           inference::ModelConfigResponse* response) override {
    return allowed(*context, ServingRole::run, [&] {
      fill(*response->mutable_config(), models_.config(request->name(), request->version()));
    });
  }
  grpc::Status ModelStatistics(grpc::ServerContext* context,
                               const inference::ModelStatisticsRequest* request,
                               inference::ModelStatisticsResponse* response) override {
    return allowed(*context, ServingRole::view, [&] {
      const std::vector<InferenceModelStatistics> all =
          request->name().empty()
              ? models_.statistics()
              : std::vector{models_.statistics(request->name(), request->version())};
      for (const auto& model : all) fill(*response->add_model_stats(), model);
    });
  }
  grpc::Status RepositoryIndex(grpc::ServerContext* context,
                               const inference::RepositoryIndexRequest* request,
                               inference::RepositoryIndexResponse* response) override {
    return allowed(*context, ServingRole::view, [&] {
      for (const InferenceModelState& state : models_.states()) {
        if (request->ready() && !state.is_ready) continue;
        auto& told = *response->add_models();
        told.set_name(state.name);
        told.set_version(state.version);
        told.set_state(std::string(state_word(state)));
        told.set_reason(state.reason);
      }
    });
  }
  grpc::Status ModelInfer(grpc::ServerContext* context, const inference::ModelInferRequest* request,
                          inference::ModelInferResponse* response) override {
    return allowed(*context, ServingRole::run, [&] {
      (void)models_.model(request->model_name(), request->model_version());
      try {
        fill(*response, models_.infer(request_of(*request)));
      } catch (const NotFound& error) {  // a name in the message is unknown, not the model
        throw ValueError(error.what());
      }
    });
  }

 private:
  template <class Answer>
  grpc::Status allowed(const grpc::ServerContext& context, ServingRole role, const Answer& answer) {
    const auto given = listening_.role_of(context);
    if (!given) return {grpc::StatusCode::UNAUTHENTICATED, "authorization: Bearer TOKEN"};
    if (*given < role) {
      return {grpc::StatusCode::PERMISSION_DENIED,
              fmt::format("this takes the role {}", name_of(role))};
    }
    return answered(answer);
  }

  InferenceModels& models_;
  const char* scheme_;
  GrpcListening listening_;
};

}  // namespace

std::unique_ptr<ListeningService> make_inference_service(InferenceModels& models,
                                                         const InferenceServiceOptions& options) {
  return std::make_unique<InferenceServing>(models, options);
}

}  // namespace d5::detail
