// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "d5/serving/inference/inference_message.hpp"

namespace d5 {

struct InferenceClientOptions {
  double seconds = 30;     ///< time limit of a call
  std::string token = {};  ///< token for the server; empty: none
};

/// A client of the Open Inference Protocol for a server of d5 or another one, over one connection.
///
///     const auto client = open_inference_client("grpc://localhost:8001");
///     const auto response = client->infer({.model = "resnet", .inputs = {{"x", images}}});
///
/// All calls throw CommunicationError if the server does not answer in time or breaks off,
/// FormatError for an invalid answer, Error for a refusal, with its message. Thread safety: one
/// thread at a time.
class InferenceClient {
 public:
  virtual ~InferenceClient() = default;
  [[nodiscard]] virtual InferenceServerInfo server() = 0;
  [[nodiscard]] virtual InferenceModelInfo model(const std::string& name,
                                                 const std::string& version = {}) = 0;
  [[nodiscard]] virtual InferenceResponse infer(const InferenceRequest& request) = 0;
};

/// Addresses: "HOST:PORT", "http://...", "https://..." (tensors are sent as bytes: the server needs
/// the extension for binary tensor data); "grpc://HOST:PORT", and "grpcs://..." with TLS and the
/// machine's certificates. Connects at the first call. Throws: ValueError for an invalid address;
/// Unsupported for gRPC if d5 was built without it.
[[nodiscard]] std::unique_ptr<InferenceClient> open_inference_client(
    const std::string& address, const InferenceClientOptions& options = {});

/// Adds the predictor "remote:ADDRESS[/MODEL]" to `predictors()`, which measures a server.
void add_remote_predictor();

}  // namespace d5
