// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

namespace d5::detail {

/// Measures the load of this machine's processors by other processes, from construction on.
class OtherWork {
 public:
  OtherWork() : begin_(now()) {}

  /// Average number of processors used by other processes, or stolen by the hypervisor. Nothing
  /// within the first 0.1 s, because the system counts in steps of 0.01 s, and if the system has no
  /// such counter.
  [[nodiscard]] std::optional<double> processors() const;
  /// The share of `processors` that the hypervisor stole.
  [[nodiscard]] std::optional<double> stolen_processors() const;
  /// Present number of running or ready threads in the whole system, except the calling one. 0 if
  /// unknown.
  [[nodiscard]] static int ready_now();
  /// Sleeps until the counter's step is small compared to the elapsed time.
  void outlast_steps() const;

 private:
  struct Reading {
    double wall_seconds = 0;
    double busy_seconds = 0;  ///< sum over all processors; negative: unknown
    double stolen_seconds = 0;
    double own_seconds = 0;
  };
  [[nodiscard]] static Reading now();
  Reading begin_;
};

}  // namespace d5::detail
