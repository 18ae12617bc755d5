// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace d5::detail {

/// What the system counts of this process while it lives, for the trace that is on: page faults,
/// switches between threads, threads, and where they may be read the processor's instructions and
/// cache misses, and energy. Level "system"; all but threads since this was made.
class SystemCounters {
 public:
  SystemCounters();
  ~SystemCounters();
  SystemCounters(const SystemCounters&) = delete;
  SystemCounters& operator=(const SystemCounters&) = delete;

  /// Their values now, if there is one. From any thread.
  static void sample();
};

}  // namespace d5::detail
