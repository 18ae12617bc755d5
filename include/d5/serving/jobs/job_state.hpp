// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace d5 {

/// Where a job of a server stands.
///
///     queued -> leased -> running -> done | failed
///
/// A lease that lapses puts it back to queued, and after too many of them to quarantined; a job
/// that is not over can be cancelled. Done, failed, cancelled and quarantined are over.
enum class JobState { queued, leased, running, done, failed, cancelled, quarantined };

[[nodiscard]] std::string_view name_of(JobState state);
/// The inverse. Throws: NotFound, with the nearest name.
[[nodiscard]] JobState job_state(std::string_view name);

[[nodiscard]] bool is_over(JobState state);
/// Whether a job may go from one state to the other at once.
[[nodiscard]] bool may_follow(JobState from, JobState to);

}  // namespace d5
