// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/machine/other_work.hpp"
#include "d5/level2_training/training/training_metric.hpp"

namespace d5::detail {

/// Reports an epoch in one line from the metrics, and in another if other work disturbed its times,
/// while training can still be stopped. Add it after the metrics.
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
