// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5::python {

/// `world()`; from now on, if there are several ranks, an uncaught exception ends the job.
[[nodiscard]] std::shared_ptr<Communicator> job_of_python();
/// `d5::share_threads`, once: a second call would divide the shared threads again.
void share_threads_of_job();
/// Throws: Unsupported, naming `what`, on one of several ranks: each would do all of the work
/// alone, and write the same files.
void expect_one_rank(const char* what);

}  // namespace d5::python
