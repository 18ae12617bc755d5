// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace d5::detail {

/// Adds the system's counters of this process to the active trace, at level "system": page faults,
/// context switches, threads, and if readable the processor's instructions, cache misses and
/// energy. All but threads count from the construction of this object.
class SystemCounters {
 public:
  SystemCounters();
  ~SystemCounters();
  SystemCounters(const SystemCounters&) = delete;
  SystemCounters& operator=(const SystemCounters&) = delete;

  /// Records the present values, if an object exists. Thread safety: any thread.
  static void sample();
};

}  // namespace d5::detail
