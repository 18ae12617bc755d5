// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "d5/core/results/measurement.hpp"
#include "d5/level2_training/data/sampler.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"
#include "d5/level2_training/training/training_session.hpp"
#include "d5/level2_training/training/trajectory.hpp"

namespace d5 {

/// Checks a sampler over `data` for some epochs. Records:
///
/// - `sampler_coverage`: per epoch, the number of draws too many or too few by the sampler's law;
/// over
///   all epochs, whether the frequencies of samples fit their probabilities;
/// - `sampler_repeatability`: number of batches that differ when an epoch is drawn again by another
///   object, or continued by `seek`; must be 0;
/// - `dataset_latency`: seconds per batch;
/// - `dataset_bias`: shares of the classes, if the data have a field "label".
[[nodiscard]] std::vector<Measurement> test_sampler(const SamplerEntry& sampler,
                                                    std::shared_ptr<const Dataset> data,
                                                    const Settings& settings,
                                                    std::int64_t epochs = 2);

struct OptimizerTolerance {
  /// Tolerance of a parameter's change per step, in units of the element type's epsilon and of the
  /// largest value. Two correct implementations differ by rounding errors, which add up.
  double epsilons_a_step = 8;
};

/// Makes `steps` steps with both optimizers, from `reference`'s parameters and on the same batches,
/// and compares the parameters after each step. One record: `trajectory_difference`, the largest
/// relative difference of any parameter's elements after each step.
/// Throws: ShapeError, NotFound if the two networks' parameters differ.
[[nodiscard]] Measurement test_optimizer(Optimizer& subject, Optimizer& reference, Sampler& data,
                                         std::int64_t steps, OptimizerTolerance tolerance = {});

using MakeOptimizer = std::function<std::shared_ptr<Optimizer>()>;

struct OptimizerJudgement {
  std::vector<Measurement> records;
  Divergence closed = {}, open = {};  ///< `open` is empty if it is unsupported
};

/// The same in both loops, with fresh optimizers for each. Records:
///
/// - `trajectory_difference`: in the closed loop, as above. If the rules agree in the open loop, a
///   difference above the rounding bound is chaos and not a fault of the rule: passed, with the
///   condition "chaos";
/// - `rule_difference`: in the open loop; skipped if that is unsupported;
/// - `parameter_difference_l2` and `parameter_difference_largest`: for each parameter in each loop
///   (conditions "parameter" and "loop"), one number per step.
[[nodiscard]] OptimizerJudgement test_optimizer(const MakeOptimizer& subject,
                                                const MakeOptimizer& reference, Sampler& data,
                                                std::int64_t steps,
                                                OptimizerTolerance tolerance = {});

/// `reproducibility`: the number of parameter elements that differ in any bit between two networks
/// from the same training; must be 0. `form` describes the training.
[[nodiscard]] Measurement reproducibility_record(const Measurement& form, Network& first,
                                                 Network& second);

/// Trains the recipe twice. Returns the records of the first run, and `reproducibility`: the number
/// of parameter elements that differ in any bit between the two runs; must be 0.
[[nodiscard]] std::vector<Measurement> test_training(const Recipe& recipe,
                                                     const SessionOptions& options = {});

}  // namespace d5
