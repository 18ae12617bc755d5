// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "core/machine/other_work.hpp"
#include "core/machine/thread_waits.hpp"

namespace d5::detail {

/// Evidence of disturbances of the machine during measurement. Filled by `MachineWatch`, or by
/// tests.
struct MachineEvidence {
  int own_threads = 1;  ///< computing threads of d5
  int processors = 1;   ///< number of the machine's processors
  WaitedTime waited = {};
  std::optional<double> others = {};  ///< processors used by other work
  std::optional<double> stolen = {};  ///< share of `others` stolen by the hypervisor
  std::vector<double> speeds = {};    ///< speeds of the processor, in order of measurement
  double best_speed = 0;              ///< highest speed ever seen; 0: none
};

/// Watches the machine, outside the clock, from construction on. Does nothing on a thread with a
/// virtual clock.
class MachineWatch {
 public:
  MachineWatch();
  /// Called between two samples: measures the processor's speed from time to time.
  void look();
  /// Called after the last sample, with the threads' waits. If there are signs of other work,
  /// sleeps until 0.2 s have passed, so that the system's counter can quantify it.
  [[nodiscard]] MachineEvidence evidence(const WaitedTime& waited);
  /// The same with the waits of all threads since construction.
  [[nodiscard]] MachineEvidence evidence();
  /// Called during measurement, for all threads since construction; does not sleep.
  [[nodiscard]] MachineEvidence evidence_so_far();

 private:
  void ask_for_speed();
  [[nodiscard]] WaitedTime waited() const;
  [[nodiscard]] MachineEvidence seen(const WaitedTime& waited);
  [[nodiscard]] static bool sees_other_work(const WaitedTime& waited);

  bool is_virtual_;
  OtherWork other_work_;
  SchedulerReading began_;
  double looked_ = 0;
  std::vector<double> speeds_;
};

}  // namespace d5::detail
