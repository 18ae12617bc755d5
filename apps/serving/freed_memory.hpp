// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace d5::app {

/// Keeps freed memory for reuse, tens of megabytes at most, in a long-running process that measures
/// nothing. glibc does so by itself once it has freed a large block. Returning pages and taking
/// them again for each job would cost more than the job's own work on them.
void keep_freed_memory();

}  // namespace d5::app
