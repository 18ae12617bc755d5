// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace d5::judged {

/// Limits this process for good to computing: its own memory and `most_threads` threads. Every
/// other system call waits for the judge's decision. Returns the descriptor on which the judge
/// hears of them; -1 and errno if the system has no such filter.
///
/// Source: Linux, Documentation/userspace-api/seccomp_filter.rst, "Userspace Notification".
[[nodiscard]] int confine(int most_threads);

/// Denies this process all files that it has not opened yet, connections, and signals to others, by
/// the kernel itself: a second wall behind `confine`. It holds for the calling thread and those
/// that it starts. Returns Landlock's version; 0 if the kernel has none.
///
/// Source: Linux, Documentation/userspace-api/landlock.rst.
[[nodiscard]] int seal_files();

}  // namespace d5::judged
