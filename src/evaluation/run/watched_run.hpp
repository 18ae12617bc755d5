// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/measuring/machine_watch.hpp"
#include "d5/core/results/measurement.hpp"

namespace d5::detail {

/// Watches the machine while a framework computes in this process. What only waits for another
/// process, or for a clock (`openai`, `remote`, `sleep`), is not watched: the scenario's lag judges
/// those runs.
class WatchedRun {
 public:
  /// `words`: frameworks and predictors that answer.
  explicit WatchedRun(std::initializer_list<std::string> words);
  /// Reasons to doubt times since construction: other work had processors that the run needed, or
  /// the processor changed its speed. Sleeps for up to 0.2 s after a short run that may have met
  /// other work.
  [[nodiscard]] std::vector<std::string> end();

 private:
  std::optional<MachineWatch> watch_;
};

/// Mistrusts times, rates, energies and shares of times for each reason.
void mistrust_times(std::span<Measurement> records, std::span<const std::string> reasons);

}  // namespace d5::detail
