// SPDX-License-Identifier: Apache-2.0
#include "level2_training/epoch_report.hpp"

#include <fmt/format.h>

#include "d5/level2_training/trainer.hpp"

namespace d5::detail {

void EpochReport::after_epoch(Trainer& trainer, std::int64_t epoch) {
  std::string line =
      fmt::format("epoch {} of {}, step {}", epoch + 1, trainer.options().epochs, trainer.step());
  for (const auto& metric : metrics_) {
    if (metric->samples().empty()) continue;
    const std::string unit = metric->unit() == "1" ? "" : " " + metric->unit();
    line += fmt::format(", {} {:.4g}{}", metric->name(), metric->samples().back(), unit);
  }
  say_(line);
}

}  // namespace d5::detail
