// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace d5 {

class InferenceClient;
class InferenceModels;
class JobQueue;
struct AgentLinkOptions;
struct AgentOptions;
struct InferenceClientOptions;
struct InferenceServiceOptions;
struct Lease;

namespace detail {

class AgentSession;
struct AgentNews;
struct InferenceAddress;

/// A gRPC service from its start until it is stopped.
class ListeningService {
 public:
  virtual ~ListeningService() = default;
  [[nodiscard]] virtual int port() const = 0;
  [[nodiscard]] virtual std::string address() const = 0;
  virtual void stop() = 0;
};

/// All uses of gRPC, which takes as long to load as half of d5. They are in a library of their own
/// (`d5_grpc`), which is loaded at their first use.
struct GrpcParts {
  const char* stamp;  ///< D5_VERSION_STAMP
  std::unique_ptr<ListeningService> (*agent_service)(JobQueue& queue, const std::string& database,
                                                     const AgentLinkOptions& options);
  std::unique_ptr<AgentSession> (*agent_session)(const AgentOptions& options, std::string facts,
                                                 std::vector<Lease> kept,
                                                 std::function<void(AgentNews)> told);
  std::unique_ptr<ListeningService> (*inference_service)(InferenceModels& models,
                                                         const InferenceServiceOptions& options);
  std::unique_ptr<InferenceClient> (*inference_client)(const InferenceAddress& address,
                                                       const InferenceClientOptions& options);
};

/// `what` is the purpose: "agents". Throws: Unsupported if d5 was built without gRPC, or its
/// libraries are missing.
[[nodiscard]] const GrpcParts& grpc_parts(const std::string& what);

}  // namespace detail
}  // namespace d5
