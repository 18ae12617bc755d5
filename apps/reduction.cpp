// SPDX-License-Identifier: Apache-2.0
#include "apps/reduction.hpp"

#include <fmt/format.h>

#include <utility>

#include "apps/say.hpp"
#include "apps/value_checks.hpp"

namespace d5::app {

void add_reduction_options(CLI::App& command, ReductionOptions& options) {
  command.add_option("--most-seconds", options.most_seconds, "time limit of --reduce")
      ->transform(positive_number())
      ->option_text("S")
      ->needs("--reduce");
}

Isolation isolation_of_reduction(const ReductionOptions& options, const RunOptions& run) {
  Isolation isolation = isolation_of(options.isolation, run);
  if (isolation.most_seconds <= 0 && run.device == "cpu") {
    isolation.most_seconds = options.most_seconds;
  }
  return isolation;
}

void ReductionSayer::say(const std::string& left, std::size_t tries, double seconds) {
  constexpr double kSilence = 10;
  const bool is_less = std::exchange(left_, left) != left;
  if (quiet_ || (!is_less && seconds - last_ < kSilence)) return;
  last_ = seconds;
  app::say(fmt::format("{} left after {} {}, {:.0f} s", left, tries, tries == 1 ? "try" : "tries",
                       seconds));
}

}  // namespace d5::app
