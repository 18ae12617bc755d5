// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/jobs/job_state.hpp"

#include <algorithm>
#include <array>

#include "d5/core/entries/registry.hpp"

namespace d5 {
namespace {

constexpr std::array<std::string_view, 7> kNames = {"queued", "leased",    "running",    "done",
                                                    "failed", "cancelled", "quarantined"};

}  // namespace

std::string_view name_of(JobState state) { return kNames.at(std::size_t(state)); }

JobState job_state(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) {
    throw_unknown_name("state of a job", name, {kNames.begin(), kNames.end()});
  }
  return JobState(found - kNames.begin());
}

bool is_over(JobState state) { return state >= JobState::done; }

bool may_follow(JobState from, JobState to) {
  if (is_over(from)) return false;
  switch (to) {
    case JobState::queued:  // a lease that lapsed, an agent that gave up
    case JobState::quarantined:
      return from != JobState::queued;
    case JobState::leased:
      return from == JobState::queued;
    case JobState::running:
      return from == JobState::leased;
    case JobState::done:
    case JobState::failed:
      return from == JobState::running;
    case JobState::cancelled:
      return true;
  }
  return false;
}

}  // namespace d5
