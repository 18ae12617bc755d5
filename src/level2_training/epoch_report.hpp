// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "d5/level2_training/training_metric.hpp"

namespace d5::detail {

/// Says in one line how an epoch went, from what the metrics saw. Add it after them.
class EpochReport final : public TrainingEvent {
 public:
  EpochReport(std::function<void(const std::string&)> say,
              const std::vector<std::shared_ptr<Metric>>& metrics);
  void after_epoch(Trainer& trainer, std::int64_t epoch) override;

 private:
  std::function<void(const std::string&)> say_;
  std::vector<std::shared_ptr<TrainingMetric>> metrics_;
};

}  // namespace d5::detail
