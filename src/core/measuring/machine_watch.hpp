// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "core/machine/other_work.hpp"
#include "core/machine/thread_waits.hpp"

namespace d5::detail {

/// What a machine did while samples were taken. Filled by `MachineWatch`; by tests as they like.
struct MachineEvidence {
  int own_threads = 1;  ///< that compute
  int processors = 1;   ///< of the machine
  WaitedTime waited = {};
  std::optional<double> others = {};  ///< processors that other work kept busy
  std::optional<double> stolen = {};  ///< those of them that the hypervisor took
  std::vector<double> speeds = {};    ///< of the processor, in the order taken
  double best_speed = 0;              ///< that was ever seen; 0: never
};

/// Watches the machine, outside the clock, from now on. Nothing on a thread whose clock is virtual.
class MachineWatch {
 public:
  MachineWatch();
  /// Between two samples: asks for the processor's speed, if a while has passed.
  void look();
  /// After the last sample, where threads `waited` in the meantime. Sleeps until 0.2 s are over
  /// where there is a sign of other work and the system's counter cannot tell yet how much.
  [[nodiscard]] MachineEvidence evidence(const WaitedTime& waited);
  /// In the middle of it, of all threads since it began; does not sleep.
  [[nodiscard]] MachineEvidence evidence_so_far();

 private:
  void ask_for_speed();
  [[nodiscard]] MachineEvidence seen(const WaitedTime& waited);
  [[nodiscard]] static bool sees_other_work(const WaitedTime& waited);

  bool is_virtual_;
  OtherWork other_work_;
  SchedulerReading began_;
  double looked_ = 0;
  std::vector<double> speeds_;
};

}  // namespace d5::detail
