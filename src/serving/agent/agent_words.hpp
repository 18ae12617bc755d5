// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/serving/jobs/job_queue.hpp"
#include "serving/agent/agent.pb.h"

namespace d5::detail {

/// Protocol version in the hello of both sides: raise it if an older side would misunderstand.
inline constexpr int kAgentProtocol = 2;
/// Size limit of a message, which must fit a manifest.
inline constexpr int kMostMessageBytes = 64 << 20;

[[nodiscard]] inline agent::Attempt attempt_of(const Lease& lease) {
  agent::Attempt attempt;
  attempt.set_job(lease.job);
  attempt.set_part(lease.part);
  attempt.set_attempt(lease.attempt);
  return attempt;
}
[[nodiscard]] inline Lease lease_of(const agent::Attempt& attempt, const std::string& agent) {
  return {attempt.job(), attempt.part(), attempt.attempt(), agent};
}

}  // namespace d5::detail
