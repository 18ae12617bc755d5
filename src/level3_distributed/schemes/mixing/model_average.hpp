// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/level2_training/optimization/optimizer.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"

namespace d5::detail {

/// Options of schemes that average parameters every so many steps.
struct ModelAverageOptions {
  enum class State { keep, average, reset };
  std::int64_t every = 8;
  State state = State::keep;
  EntryChoice all_reduce{"mpi"};

  void declare(OptionList& options) {
    options.add("every", every, "number of local steps between averages", {.least = 1});
    options.add("state", state, "optimizer state at an average: keep, average or reset",
                {"keep", "average", "reset"});
    options.add("all_reduce", all_reduce, "algorithm that sums the parameters",
                all_reduces().kind());
  }
};

/// The mean over ranks, now and then.
class ModelAverage {
 public:
  /// `rule` has made no step yet.
  ModelAverage(std::shared_ptr<Communicator> ranks, const ModelAverageOptions& options,
               const ThreeStepOptimizer& rule);

  /// Counts a step: whether it is the time.
  [[nodiscard]] bool is_due();
  /// Of all parameters, and of what the rule remembers if that is wished; or that is as it was
  /// before the first step. A collective.
  void average(Tensor& values, ThreeStepOptimizer& rule);
  /// Steps since the beginning: for checkpoints.
  [[nodiscard]] const Tensor& steps() const { return steps_; }

 private:
  void mean_of(Tensor& tensor);

  std::shared_ptr<Communicator> ranks_;
  ModelAverageOptions options_;
  std::shared_ptr<AllReduce> all_reduce_;
  Tensor steps_ = Tensor::scalar(std::int64_t{0});
  ValueMap at_first_;  // what the rule remembers, if it is reset
};

}  // namespace d5::detail
