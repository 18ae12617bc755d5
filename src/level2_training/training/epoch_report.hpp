// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/machine/other_work.hpp"
#include "d5/level2_training/training/training_metric.hpp"

namespace d5::detail {

/// Says in one line how an epoch went, from what the metrics saw, and in another that other work
/// disturbed its times: while it can still be ended. Add it after the metrics.
class EpochReport final : public TrainingEvent {
 public:
  EpochReport(std::function<void(const std::string&)> say,
              const std::vector<std::shared_ptr<Metric>>& metrics);
  void after_epoch(Trainer& trainer, std::int64_t epoch) override;

 private:
  std::function<void(const std::string&)> say_;
  std::vector<std::shared_ptr<TrainingMetric>> metrics_;
  OtherWork other_work_;  ///< since the last report
};

}  // namespace d5::detail
