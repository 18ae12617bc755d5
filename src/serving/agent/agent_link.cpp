// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/agent/agent_link.hpp"

#include "serving/grpc/grpc_parts.hpp"

namespace d5 {

class AgentLink::Listening {
 public:
  std::unique_ptr<detail::ListeningService> service;
};

AgentLink::AgentLink(JobQueue& queue, const std::string& database, const AgentLinkOptions& options)
    : listening_(std::make_unique<Listening>()) {
  listening_->service = detail::grpc_parts("agents").agent_service(queue, database, options);
}
AgentLink::~AgentLink() = default;
int AgentLink::port() const { return listening_->service->port(); }
std::string AgentLink::address() const { return listening_->service->address(); }
void AgentLink::stop() { listening_->service->stop(); }

}  // namespace d5
