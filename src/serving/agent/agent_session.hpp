// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/serving/agent/agent.hpp"
#include "d5/serving/jobs/job_queue.hpp"

namespace d5::detail {

/// News from the server, about the connection to it, or of files that a part waited for.
struct AgentNews {
  enum class What { welcome, work, nothing, gone, taken, broken, refused, fetched } what;
  Lease lease = {};       ///< lease of work, gone and taken
  std::string text = {};  ///< the reason of broken and refused
};

/// How a part ended.
struct AgentOutcome {
  enum class End { failed, done, lost } end = End::failed;
  Lease lease = {};
  std::string reason = {};
};
/// Names of its ends, in order.
inline constexpr std::array<std::string_view, 3> kAgentEnds = {"failed", "done", "lost"};

/// An agent's side of its stream: a thread of its own keeps it open, reopens it when it breaks, and
/// sends heartbeats.
class AgentSession {
 public:
  virtual ~AgentSession() = default;

  // These return false if the stream is broken: the message may not have arrived.
  virtual bool ready() = 0;
  virtual bool begun(const Lease& lease) = 0;
  virtual bool progress(const Lease& lease, const std::string& text) = 0;
  /// `file`: of the results; empty: there are none.
  virtual bool deliver(const AgentOutcome& outcome, const std::string& file) = 0;

  /// Fetches a file that the server keeps, piece by piece, on any thread. Returns false if it keeps
  /// none. Throws: IoError if it breaks off; Interrupted.
  virtual bool fetch(const std::string& sha256, const std::function<void(std::string_view)>& hear,
                     const Interrupt& interrupt) = 0;
};

}  // namespace d5::detail
