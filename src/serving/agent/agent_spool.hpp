// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/files/file_lock.hpp"
#include "serving/agent/agent_session.hpp"

namespace d5::detail {

/// What an agent has of attempts, in files: a folder each, JOB-PART-ATTEMPT, until the server has
/// kept its outcome. What a dead agent left half done is removed by the next.
class AgentSpool {
 public:
  /// Throws: IoError where it cannot be made, or another agent uses it.
  explicit AgentSpool(const std::string& folder);

  /// Outcomes that the server has not taken yet.
  [[nodiscard]] std::vector<AgentOutcome> outcomes() const;
  /// A folder for a new attempt. Throws: FormatError for a name that leads elsewhere.
  std::string begin(const Lease& lease) const;
  /// Writes down how it came out: from now on it outlives the agent.
  void conclude(const AgentOutcome& outcome) const;
  void remove(const Lease& lease) const;
  /// The results of an attempt; empty where there are none.
  [[nodiscard]] std::string results(const Lease& lease) const;
  [[nodiscard]] std::string folder(const Lease& lease) const;

 private:
  std::string folder_;
  std::optional<FileLock> lock_;
};

/// Its name in the folder of an attempt.
inline constexpr const char* kSpooledResults = "results.db";

}  // namespace d5::detail
