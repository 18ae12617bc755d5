// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

namespace d5::detail {

/// What keeps this machine's processors busy besides this process, from now on.
class OtherWork {
 public:
  OtherWork() : begin_(now()) {}

  /// Processors in use by other processes, or taken away by the hypervisor, on average since then.
  /// Nothing within the first 0.1 s, for the system counts in steps of 0.01 s, and where it does
  /// not tell.
  [[nodiscard]] std::optional<double> processors() const;
  /// Those of them that the hypervisor took for other machines.
  [[nodiscard]] std::optional<double> stolen_processors() const;
  /// Threads of the whole system that run or are ready to, right now, besides the calling one.
  /// 0 where the system does not tell.
  [[nodiscard]] static int ready_now();
  /// Sleeps until the steps of the system's counter are small beside the time since then.
  void outlast_steps() const;

 private:
  struct Reading {
    double wall_seconds = 0;
    double busy_seconds = 0;  ///< of all processors together; below 0: the system does not tell
    double stolen_seconds = 0;
    double own_seconds = 0;
  };
  [[nodiscard]] static Reading now();
  Reading begin_;
};

}  // namespace d5::detail
