// SPDX-License-Identifier: Apache-2.0
#include "d5/core/error.hpp"
#include "d5/serving/agent_link.hpp"
#include "serving/agent/agent_session.hpp"

namespace d5 {
namespace {

[[noreturn]] void refuse_agents() {
  throw Unsupported(
      "agents: d5 was built without gRPC; install libgrpc++-dev and protobuf-compiler-grpc, and "
      "build it again");
}

}  // namespace

class AgentLink::Listening {};
AgentLink::AgentLink(JobQueue&, const std::string&, const AgentLinkOptions&) { refuse_agents(); }
AgentLink::~AgentLink() = default;
int AgentLink::port() const { return 0; }
std::string AgentLink::address() const { return {}; }
void AgentLink::stop() {}

namespace detail {

class AgentSession::Talk {};
AgentSession::AgentSession(const AgentOptions&, std::string, std::vector<Lease>, Told) {
  refuse_agents();
}
AgentSession::~AgentSession() = default;
bool AgentSession::ready() { return false; }
bool AgentSession::begun(const Lease&) { return false; }
bool AgentSession::progress(const Lease&, const std::string&) { return false; }
bool AgentSession::deliver(const AgentOutcome&, const std::string&) { return false; }

}  // namespace detail
}  // namespace d5
