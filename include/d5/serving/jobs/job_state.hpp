// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace d5 {

/// State of a job.
///
///     queued -> leased -> running -> done | failed
///
/// A lease that lapses returns it to queued, and too many of them to quarantined. A job that is not
/// over can be cancelled. Done, failed, cancelled and quarantined are over.
enum class JobState { queued, leased, running, done, failed, cancelled, quarantined };

[[nodiscard]] std::string_view name_of(JobState state);
/// Inverse of `name_of`. Throws: NotFound, with the nearest name.
[[nodiscard]] JobState job_state(std::string_view name);

[[nodiscard]] bool is_over(JobState state);
/// Whether a job may change directly from one state to the other.
[[nodiscard]] bool may_follow(JobState from, JobState to);

}  // namespace d5
