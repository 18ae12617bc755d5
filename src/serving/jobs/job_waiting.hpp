// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/serving/jobs/job.hpp"

namespace d5::detail {

/// Why an agent that would fit has no job.
constexpr const char* kSilent = "it is silent";

/// Why none of the agents can run a job with these constraints: the frameworks that none offers,
/// or what each one lacks. Empty if one fits and is not silent.
[[nodiscard]] std::string why_none_fits(const JobConstraints& constraints,
                                        const std::vector<StandingAgent>& agents);

}  // namespace d5::detail
