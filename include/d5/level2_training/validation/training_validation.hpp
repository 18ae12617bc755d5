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
/// - `sampler_coverage`: per epoch, how many draws there were too many or too few by the sampler's
///   law; over all of them, whether samples came by their chances;
/// - `sampler_repeatability`: batches that differ when an epoch is drawn again by another object,
///   or continued by `seek`; none may;
/// - `dataset_latency`: seconds for each batch;
/// - `dataset_bias`: the classes' shares, if the data have a field "label".
[[nodiscard]] std::vector<Measurement> test_sampler(const SamplerEntry& sampler,
                                                    std::shared_ptr<const Dataset> data,
                                                    const Settings& settings,
                                                    std::int64_t epochs = 2);

struct OptimizerTolerance {
  /// Of a parameter's change, in units of the element type's epsilon and of the largest value, for
  /// each step made: two right implementations differ by roundings, which add up.
  double epsilons_a_step = 8;
};

/// Makes `steps` steps with both, from `reference`'s parameters and on the same batches, and
/// compares the parameters after each. One record: `trajectory_difference`, the largest relative
/// difference of any parameter's elements after each step. Throws: ShapeError, NotFound where the
/// two networks' parameters are not the same.
[[nodiscard]] Measurement test_optimizer(Optimizer& subject, Optimizer& reference, Sampler& data,
                                         std::int64_t steps, OptimizerTolerance tolerance = {});

using MakeOptimizer = std::function<std::shared_ptr<Optimizer>()>;

struct OptimizerJudgement {
  std::vector<Measurement> records;
  Divergence closed = {}, open = {};  ///< the latter empty where it is unsupported
};

/// The same in both loops, with fresh optimizers for each. Records:
///
/// - `trajectory_difference`: in the closed loop, as above. Where the rules agree in the open loop,
///   more than rounding explains is chaos, and no fault of the rule: passed, with the condition
///   "chaos";
/// - `rule_difference`: in the open loop; skipped where that is unsupported;
/// - `parameter_difference_l2` and `parameter_difference_largest`: of each parameter in each loop
///   (conditions "parameter" and "loop"), a number a step.
[[nodiscard]] OptimizerJudgement test_optimizer(const MakeOptimizer& subject,
                                                const MakeOptimizer& reference, Sampler& data,
                                                std::int64_t steps,
                                                OptimizerTolerance tolerance = {});

/// `reproducibility`: how many parameter elements of two networks, which the same training made,
/// differ in any bit; none may. What it tells of the training is `form`'s.
[[nodiscard]] Measurement reproducibility_record(const Measurement& form, Network& first,
                                                 Network& second);

/// Runs the recipe twice. The records of the first run, and `reproducibility`: how many parameter
/// elements differ in any bit between the two; none may.
[[nodiscard]] std::vector<Measurement> test_training(const Recipe& recipe,
                                                     const SessionOptions& options = {});

}  // namespace d5
