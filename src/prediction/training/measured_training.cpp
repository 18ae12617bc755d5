// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/training/measured_training.hpp"

#include <fmt/format.h>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/trace/trace.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"
#include "level3_distributed/communicator/of_ranks.hpp"
#include "prediction/profile/profiled_step.hpp"

namespace d5 {
namespace {

std::shared_ptr<ThreeStepOptimizer> in_three_steps(const std::shared_ptr<Optimizer>& optimizer) {
  auto three = std::dynamic_pointer_cast<ThreeStepOptimizer>(optimizer);
  if (three) return three;
  throw Unsupported("the optimizer is not a ThreeStepOptimizer, so it cannot be distributed");
}

/// The interval of a median needs six samples; with several launches the median of each is a
/// sample.
std::int64_t fewest_measured(const ProfileOptions& options) { return options.launches > 1 ? 3 : 6; }

}  // namespace

std::vector<double> measure_steps(const std::string& model_or_recipe, const std::string& framework,
                                  const EntryChoice& scheme, const ProfileOptions& options,
                                  const ExecutorOptions& execution,
                                  const std::shared_ptr<Communicator>& ranks) {
  if (options.batches.size() != 1 || options.steps < 1) {
    throw ValueError(
        fmt::format("measured steps: {} batch sizes and {} steps; expected one batch size, and one "
                    "step or more",
                    options.batches.size(), options.steps));
  }
  const std::int64_t size = options.batches.front();
  const auto step = open_profiled_step(model_or_recipe, framework, size, options, execution);
  std::shared_ptr<Optimizer> optimizer(std::shared_ptr<void>(),
                                       &step->optimizer());  // step owns it
  if (ranks->size() > 1) {
    optimizer = find_scheme(scheme.name).make(in_three_steps(optimizer), ranks, scheme.settings);
  }
  std::vector<double> seconds;
  double once = 0;
  std::int64_t steps = options.steps;
  for (std::int64_t i = -options.warm_up; i < steps; ++i) {
    if (i < 0 && detail::largest_of_ranks(*ranks, once) > kWarmAfter) i = 0;
    if (i == 0) steps = steps_wanted(options, once, *ranks);
    ranks->barrier();
    const Span span("training", "step");
    // Timed: from before the batch is requested until the parameters are updated, as in a profile.
    const double begin = now_seconds();
    Batch batch = step->next();
    batch.global_size = size * ranks->size();
    (void)optimizer->step(batch);
    optimizer->executor().synchronise();
    once = now_seconds() - begin;
    if (i >= 0) seconds.push_back(once);
    if (options.on_step && i < options.steps) options.on_step(size);
    if (std::ssize(seconds) >= fewest_measured(options) &&
        detail::any_of_ranks(*ranks, options.interrupt.due())) {
      break;
    }
  }
  Tensor slowest =
      Tensor::borrow({DType::float64, {std::int64_t(seconds.size())}}, seconds.data(), nullptr);
  ranks->all_reduce(slowest, Reduction::maximum);
  return seconds;
}

}  // namespace d5
