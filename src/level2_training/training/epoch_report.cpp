// SPDX-License-Identifier: Apache-2.0
#include "level2_training/training/epoch_report.hpp"

#include <fmt/format.h>

#include "core/machine/machine.hpp"
#include "core/measuring/trust.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/level2_training/training/trainer.hpp"

namespace d5::detail {

EpochReport::EpochReport(std::function<void(const std::string&)> say,
                         const std::vector<std::shared_ptr<Metric>>& metrics)
    : say_(std::move(say)) {
  for (const auto& metric : metrics) {
    if (auto one = std::dynamic_pointer_cast<TrainingMetric>(metric)) {
      metrics_.push_back(std::move(one));
    }
  }
}

void EpochReport::after_epoch(Trainer& trainer, std::int64_t epoch) {
  std::string line =
      fmt::format("epoch {} of {}, step {}", epoch + 1, trainer.options().epochs, trainer.step());
  if (const std::int64_t out = trainer.train_sampler().left_out(); out > 0) {
    line += fmt::format(", {} samples left out", out);
  }
  for (const auto& metric : metrics_) {
    if (metric->samples().empty()) continue;
    const std::string unit = metric->unit() == "1" ? "" : " " + metric->unit();
    line += fmt::format(", {} {:.4g}{}", metric->name(), metric->samples().back(), unit);
  }
  say_(line);
  const auto others = other_work_.processors();
  if (!others) return;
  other_work_ = {};
  const std::string reason = disturbance(*others, threads(), machine().hardware_threads);
  if (!reason.empty()) say_("warning: " + reason + "; do not trust the times");
}

}  // namespace d5::detail
