// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "d5/serving/inference/inference_models.hpp"

namespace d5 {

struct InferenceServiceOptions {
  std::string host = "127.0.0.1";
  int port = 0;                  ///< 0: any free port
  std::string certificate = {};  ///< PEM file with its chain; empty: no TLS
  std::string key = {};          ///< PEM file
  std::string tokens = {};       ///< file of `AccessTokens`; empty: everyone may use it
  std::size_t most_message_bytes = std::size_t{64} << 20;
  int most_threads = 64;  ///< threads that answer concurrently
};

/// Serves the Open Inference Protocol over gRPC (inference.GRPCInferenceService), like the routes
/// below /v2 over HTTP. The token is metadata: "authorization: Bearer TOKEN", of the role run.
///
///     InferenceService service(models, {.port = 8501});
///     std::cout << service.address();  // grpc://127.0.0.1:8501
///
/// gRPC does not survive a fork: start children by posix_spawn only.
class InferenceService {
 public:
  /// `models` outlive it. Throws: IoError if it cannot listen or read the certificate; ValueError
  /// for an address of other machines without TLS and tokens; Unsupported if d5 was built without
  /// gRPC.
  InferenceService(InferenceModels& models, const InferenceServiceOptions& options = {});
  /// Calls `stop`.
  ~InferenceService();
  InferenceService(const InferenceService&) = delete;
  InferenceService& operator=(const InferenceService&) = delete;

  [[nodiscard]] int port() const;
  [[nodiscard]] std::string address() const;
  /// Gives running answers two seconds.
  void stop();

 private:
  class Listening;
  std::unique_ptr<Listening> listening_;
};

}  // namespace d5
