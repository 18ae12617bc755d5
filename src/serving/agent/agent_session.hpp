// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "d5/serving/agent.hpp"
#include "d5/serving/job_queue.hpp"

namespace d5::detail {

/// What the server, or the way to it, has to say.
struct AgentNews {
  enum class What { welcome, work, nothing, gone, taken, broken, refused } what;
  Lease lease = {};       ///< of work, gone and taken
  std::string text = {};  ///< the reason of broken and refused
};

/// How a part came to its end.
struct AgentOutcome {
  enum class End { failed, done, lost } end = End::failed;
  Lease lease = {};
  std::string reason = {};
};
/// What its ends are called, in their order.
inline constexpr std::array<std::string_view, 3> kAgentEnds = {"failed", "done", "lost"};

/// An agent's side of its stream: kept open, and opened again whenever it breaks, by a thread of
/// its own, with a heartbeat.
class AgentSession {
 public:
  /// Called on other threads, one call at a time.
  using Told = std::function<void(AgentNews)>;
  /// `kept` is what the agent has from before. Throws: IoError; Unsupported without gRPC.
  AgentSession(const AgentOptions& options, std::string facts, std::vector<Lease> kept, Told told);
  ~AgentSession();
  AgentSession(const AgentSession&) = delete;
  AgentSession& operator=(const AgentSession&) = delete;

  // Each is false where the stream is broken: what was said may not have been heard.
  bool ready();
  bool begun(const Lease& lease);
  bool progress(const Lease& lease, const std::string& text);
  /// `file`: of the results; empty: there are none.
  bool deliver(const AgentOutcome& outcome, const std::string& file);

 private:
  class Talk;
  std::unique_ptr<Talk> talk_;
};

}  // namespace d5::detail
