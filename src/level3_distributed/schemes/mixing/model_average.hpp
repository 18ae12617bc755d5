// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/level2_training/optimization/optimizer.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"

namespace d5::detail {

/// Options of schemes that average parameters periodically.
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

/// Periodic averaging of parameters over ranks.
class ModelAverage {
 public:
  /// `rule` must not have made a step yet.
  ModelAverage(std::shared_ptr<Communicator> ranks, const ModelAverageOptions& options,
               const ThreeStepOptimizer& rule);

  /// Counts a step; returns whether an average is due.
  [[nodiscard]] bool is_due();
  /// Averages all parameters, and by the option `state` averages the rule's state or resets it to
  /// the state before the first step. A collective.
  void average(Tensor& values, ThreeStepOptimizer& rule);
  /// Number of steps, for checkpoints.
  [[nodiscard]] const Tensor& steps() const { return steps_; }

 private:
  void mean_of(Tensor& tensor);

  std::shared_ptr<Communicator> ranks_;
  ModelAverageOptions options_;
  std::shared_ptr<AllReduce> all_reduce_;
  Tensor steps_ = Tensor::scalar(std::int64_t{0});
  ValueMap at_first_;  // the rule's initial state, if it is reset
};

}  // namespace d5::detail
