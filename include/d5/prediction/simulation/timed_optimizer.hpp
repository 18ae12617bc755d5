// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "d5/level2_training/optimization/optimizer.hpp"
#include "d5/prediction/simulation/simulated_run.hpp"

namespace d5 {

/// Times of a training step on a single rank. Units: s.
struct TimedStep {
  struct Gradient {
    std::string parameter;
    std::int64_t elements = 0;  ///< float32 elements
    double backward = 0;        ///< time since the previous gradient was final
    double update = 0;          ///< update of its parameter
    Slowdown backward_slowdown = {}, update_slowdown = {};
  };
  double forward = 0;
  std::vector<Gradient> gradients;  ///< in the order in which they are final
  double rest = 0;                  ///< rest of backward, after the last gradient
  Slowdown forward_slowdown = {}, rest_slowdown = {};
  /// Factors on all times, one for each step, cyclic; empty: 1.
  std::vector<double> factors = {};
  [[nodiscard]] double seconds() const;
};

/// An optimizer of phantom parameters. Its steps spend the given times on `rank` and announce each
/// gradient when it is final. Schemes and exchanges wrap it like any other optimizer.
///
///     auto scheme = distributed_optimizers().at("consistent_decentralized")
///                       .make(make_timed_optimizer(rank, times), ranks, {{"all_reduce", "ring"}});
///     const double begin = rank.now();
///     (void)scheme->step(timed_batch());
///     const double step = rank.now() - begin;
///
/// A scheme may compute on parameters only through its communicator, because phantom tensors have
/// no memory. `rank` must outlive the optimizer.
/// Throws: ValueError for no gradients, negative times, or sizes below 1.
[[nodiscard]] std::shared_ptr<ThreeStepOptimizer> make_timed_optimizer(SimulatedRank& rank,
                                                                       const TimedStep& times);
/// A batch of one sample and no data.
[[nodiscard]] Batch timed_batch();

}  // namespace d5
