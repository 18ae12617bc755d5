// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace d5::judged {

/// Limits this process for good to computing: its own memory and `most_threads` threads. Every
/// other system call waits for the judge's decision. Returns the descriptor on which the judge
/// hears of them; -1 and errno if the system has no such filter.
///
/// Source: Linux, Documentation/userspace-api/seccomp_filter.rst, "Userspace Notification".
[[nodiscard]] int confine(int most_threads);

}  // namespace d5::judged
