// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "d5/serving/inference/inference_message.hpp"

namespace d5 {

struct InferenceClientOptions {
  double seconds = 30;     ///< for one call
  std::string token = {};  ///< that the server wants; empty: none
};

/// Asks a server of the Open Inference Protocol, d5's or another's, over one connection.
///
///     const auto client = open_inference_client("grpc://localhost:8001");
///     const auto response = client->infer({.model = "resnet", .inputs = {{"x", images}}});
///
/// All calls throw CommunicationError where the server does not answer in time or breaks off,
/// FormatError for an answer that is none, Error for what it refuses, with its words.
/// Thread safety: one thread at a time.
class InferenceClient {
 public:
  virtual ~InferenceClient() = default;
  [[nodiscard]] virtual InferenceServerInfo server() = 0;
  [[nodiscard]] virtual InferenceModelInfo model(const std::string& name,
                                                 const std::string& version = {}) = 0;
  [[nodiscard]] virtual InferenceResponse infer(const InferenceRequest& request) = 0;
};

/// "HOST:PORT", "http://...", "https://..." (tensors go as bytes: the server has the extension for
/// binary tensor data); "grpc://HOST:PORT", "grpcs://..." with TLS, which takes the machine's
/// certificates. Connects at the first call.
/// Throws: ValueError for an address that is none; Unsupported for gRPC where d5 was built without.
[[nodiscard]] std::unique_ptr<InferenceClient> open_inference_client(
    const std::string& address, const InferenceClientOptions& options = {});

/// Adds the predictor "remote:ADDRESS[/MODEL]" to `predictors()`, which measures a server.
void add_remote_predictor();

}  // namespace d5
