// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "d5/level2_training/optimizer.hpp"

namespace d5::detail {

/// The gradients of one optimizer's last step, of each time that it asked, for another optimizer
/// that makes the same step: what remains between the two is their rules.
///
///     const GradientTape tape(reference, subject);
///     reference.step(batch);  // from the network
///     subject.step(batch);    // the same gradients, wherever its own parameters are
///
/// While it lives it stands in the sources of both; both networks have the same parameters.
class GradientTape {
 public:
  GradientTape(ThreeStepOptimizer& recorded, ThreeStepOptimizer& given);
  ~GradientTape();
  GradientTape(const GradientTape&) = delete;
  GradientTape& operator=(const GradientTape&) = delete;

  struct Run {
    double factor = 1;
    std::vector<Tensor> gradients;
    ValueMap outputs;
  };
  /// Before each step of the recorded one.
  void rewind() { runs_->clear(); }

 private:
  ThreeStepOptimizer &recorded_, &given_;
  std::shared_ptr<std::vector<Run>> runs_;
};

}  // namespace d5::detail
