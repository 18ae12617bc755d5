// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <chrono>

#include "d5/core/errors/error.hpp"
#include "serving/inference/grpc_messages.hpp"
#include "serving/inference/inference_clients.hpp"
#include "serving/inference/open_inference.grpc.pb.h"

namespace d5::detail {
namespace {

using Stub = inference::GRPCInferenceService::Stub;

std::shared_ptr<grpc::Channel> open_channel(const InferenceAddress& address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);          // what is measured is this server alone
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection of one's own
  return grpc::CreateCustomChannel(address.place,
                                   address.scheme == "grpcs"
                                       ? grpc::SslCredentials(grpc::SslCredentialsOptions())
                                       : grpc::InsecureChannelCredentials(),
                                   arguments);
}

class GrpcInferenceClient final : public InferenceClient {
 public:
  GrpcInferenceClient(const InferenceAddress& address, const InferenceClientOptions& options)
      : address_(fmt::format("{}://{}", address.scheme, address.place)),
        options_(options),
        stub_(open_channel(address)) {}

  InferenceServerInfo server() override {
    inference::ServerMetadataResponse response;
    call(&Stub::ServerMetadata, inference::ServerMetadataRequest(), response);
    return {.name = response.name(),
            .version = response.version(),
            .extensions = {response.extensions().begin(), response.extensions().end()}};
  }
  InferenceModelInfo model(const std::string& name, const std::string& version) override {
    inference::ModelMetadataRequest request;
    request.set_name(name);
    request.set_version(version);
    inference::ModelMetadataResponse response;
    call(&Stub::ModelMetadata, request, response);
    return model_of(response);
  }
  InferenceResponse infer(const InferenceRequest& request) override {
    inference::ModelInferRequest message;
    fill(message, request);
    inference::ModelInferResponse response;
    call(&Stub::ModelInfer, message, response);
    return response_of(response);
  }

 private:
  template <class Method, class Request, class Response>
  void call(Method method, const Request& request, Response& response) {
    if (getpid() != process_) {
      throw Unsupported(
          "gRPC does not live on in a process that is forked; open the predictor there, or ask "
          "over HTTP");
    }
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::milliseconds(std::int64_t(options_.seconds * 1000)));
    if (!options_.token.empty()) context.AddMetadata("authorization", "Bearer " + options_.token);
    const grpc::Status status = (stub_.*method)(&context, request, &response);
    if (status.ok()) return;
    const std::string words =
        fmt::format("{} says {}: {}", printable(address_), int(status.error_code()),
                    printable_message(status.error_message()));
    const bool did_not_answer = status.error_code() == grpc::StatusCode::UNAVAILABLE ||
                                status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
    if (did_not_answer) throw CommunicationError(words);
    throw Error(words);
  }

  std::string address_;
  InferenceClientOptions options_;
  pid_t process_ = getpid();
  Stub stub_;
};

}  // namespace

std::unique_ptr<InferenceClient> make_grpc_inference_client(const InferenceAddress& address,
                                                            const InferenceClientOptions& options) {
  return std::make_unique<GrpcInferenceClient>(address, options);
}

}  // namespace d5::detail
