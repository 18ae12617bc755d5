// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5::python {

/// `world()`; of several ranks, what nobody in Python catches ends the job from now on.
[[nodiscard]] std::shared_ptr<Communicator> job_of_python();
/// `d5::share_threads`, once: a second time would divide what is shared already.
void share_threads_of_job();
/// Throws: Unsupported, naming `what`, on one of several ranks: each would do all of it alone, and
/// write the same files.
void expect_one_rank(const char* what);

}  // namespace d5::python
