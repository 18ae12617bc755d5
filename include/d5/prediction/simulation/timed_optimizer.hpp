// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "d5/level2_training/optimization/optimizer.hpp"
#include "d5/prediction/simulation/simulated_run.hpp"

namespace d5 {

/// What a step of training costs one rank alone. Units: seconds.
struct TimedStep {
  struct Gradient {
    std::string parameter;
    std::int64_t elements = 0;  ///< of float32
    double backward = 0;        ///< from when the gradient before is final until this one is
    double update = 0;          ///< of its parameter
  };
  double forward = 0;
  std::vector<Gradient> gradients;  ///< in the order in which they are final
  double rest = 0;                  ///< of backward, after the last of them
  /// Of all these times, step by step, over and over; empty: 1.
  std::vector<double> factors = {};
  [[nodiscard]] double seconds() const;
};

/// An optimizer of phantom parameters whose steps let these times pass on `rank`, and announce each
/// gradient when it is final: schemes and exchanges are put around it as around any other.
///
///     auto scheme = distributed_optimizers().at("consistent_decentralized")
///                       .make(make_timed_optimizer(rank, times), ranks, {{"all_reduce", "ring"}});
///     const double begin = rank.now();
///     (void)scheme->step(timed_batch());
///     const double step = rank.now() - begin;
///
/// A scheme that computes with parameters otherwise than by its communicator touches what is not
/// there. `rank` outlives it. Throws: ValueError for no gradients, times below 0, sizes below 1.
[[nodiscard]] std::shared_ptr<ThreeStepOptimizer> make_timed_optimizer(SimulatedRank& rank,
                                                                       const TimedStep& times);
/// A batch of one sample and no data.
[[nodiscard]] Batch timed_batch();

}  // namespace d5
