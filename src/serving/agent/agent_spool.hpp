// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/files/file_lock.hpp"
#include "serving/agent/agent_session.hpp"

namespace d5::detail {

/// An agent's files of attempts: a folder for each, JOB-PART-ATTEMPT, until the server has stored
/// its outcome. The next agent removes what a dead agent left unfinished.
class AgentSpool {
 public:
  /// Throws: IoError if it cannot be created, or another agent uses it.
  explicit AgentSpool(const std::string& folder);

  /// Outcomes that the server has not taken yet.
  [[nodiscard]] std::vector<AgentOutcome> outcomes() const;
  /// Creates a folder for a new attempt. Throws: FormatError for a name that leads elsewhere.
  std::string begin(const Lease& lease) const;
  /// Writes the outcome down, durably: it outlives the agent.
  void conclude(const AgentOutcome& outcome) const;
  void remove(const Lease& lease) const;
  /// The results of an attempt; empty if there are none.
  [[nodiscard]] std::string results(const Lease& lease) const;
  [[nodiscard]] std::string folder(const Lease& lease) const;
  /// Why an attempt failed, from its results; empty if they have no reason.
  [[nodiscard]] std::string first_failure(const Lease& lease) const;

 private:
  std::string folder_;
  std::optional<FileLock> lock_;
};

/// Its name in the folder of an attempt.
inline constexpr const char* kSpooledResults = "results.db";

}  // namespace d5::detail
