// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/serving/jobs/job_queue.hpp"

namespace d5::detail {

/// Throws: NotFound with the nearest name, for a framework that neither this d5 nor any agent
/// knows.
void expect_known_frameworks(const JobConstraints& constraints, const JobQueue& queue);

}  // namespace d5::detail
