// SPDX-License-Identifier: Apache-2.0
// The only symbol that the library d5_grpc exports.
#include "d5/core/entries/plugin.hpp"
#include "serving/grpc/grpc_parts.hpp"

namespace d5::detail {

// Each is defined beside the class that it makes.
std::unique_ptr<ListeningService> make_agent_service(JobQueue&, const std::string&,
                                                     const AgentLinkOptions&);
std::unique_ptr<AgentSession> make_agent_session(const AgentOptions&, std::string,
                                                 std::vector<Lease>,
                                                 std::function<void(AgentNews)>);
std::unique_ptr<ListeningService> make_inference_service(InferenceModels&,
                                                         const InferenceServiceOptions&);
std::unique_ptr<InferenceClient> make_grpc_inference_client(const InferenceAddress&,
                                                            const InferenceClientOptions&);

}  // namespace d5::detail

extern "C" [[gnu::visibility("default")]] const d5::detail::GrpcParts* d5_grpc_parts() {
  using namespace d5::detail;
  static constexpr GrpcParts parts{.stamp = D5_VERSION_STAMP,
                                   .agent_service = make_agent_service,
                                   .agent_session = make_agent_session,
                                   .inference_service = make_inference_service,
                                   .inference_client = make_grpc_inference_client};
  return &parts;
}
