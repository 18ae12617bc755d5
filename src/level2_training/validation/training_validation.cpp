// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/validation/training_validation.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "level2_training/validation/differing_elements.hpp"

namespace d5 {
namespace {

/// Fails if the difference of a step exceeds rounding error.
void judge_rounding(Measurement& result, const Divergence& apart, OptimizerTolerance tolerance) {
  for (std::size_t i = 0; i < result.samples.size(); ++i) {
    const double allowed = tolerance.epsilons_a_step * apart.epsilon * double(i + 1);
    if (result.samples[i] <= allowed) continue;
    result.status = Status::failed;
    result.reason = fmt::format(
        "step {}: the parameters differ by {:.3g} of their size, {:.3g} is "
        "allowed",
        i + 1, result.samples[i], allowed);
    return;
  }
}

Measurement difference_record(Optimizer& subject, const std::string& metric,
                              const Divergence& apart) {
  Measurement result;
  result.subject = fmt::format("optimizer on {}", printable(subject.executor().network().name()));
  result.level = "training";
  result.framework = subject.executor().framework();
  result.metric = metric;
  result.unit = "1";
  result.quantity = Quantity::error;
  result.statistic = {.of = Statistic::Of::maximum};
  result.samples = apart.largest();
  return result;
}

/// Adds one record per parameter, loop and norm.
void add_parameters(std::vector<Measurement>& results, const Measurement& form,
                    const Divergence& apart, const char* loop) {
  for (const auto& parameter : apart.parameters) {
    for (const auto& [metric, samples] : {std::pair{"parameter_difference_l2", &parameter.l2},
                                          {"parameter_difference_largest", &parameter.largest}}) {
      Measurement& result = results.emplace_back(form);
      result.metric = metric;
      result.samples = *samples;
      result.conditions["parameter"] = identity(printable(parameter.name));
      result.conditions["loop"] = identity(loop);
    }
  }
}

void expect_compared(std::int64_t steps, const OptimizerTolerance& tolerance) {
  if (steps < 1) {
    throw ValueError(fmt::format("test_optimizer: steps is {}, expected at least 1", steps));
  }
  const double epsilons = tolerance.epsilons_a_step;
  if (std::isfinite(epsilons) && epsilons >= 0) return;
  throw ValueError(fmt::format(
      "test_optimizer: epsilons_a_step is {}, expected a finite number >= 0", epsilons));
}

}  // namespace

Measurement test_optimizer(Optimizer& subject, Optimizer& reference, Sampler& data,
                           std::int64_t steps, OptimizerTolerance tolerance) {
  expect_compared(steps, tolerance);
  const Divergence apart = divergence(subject, reference, data, steps);
  Measurement result = difference_record(subject, "trajectory_difference", apart);
  judge_rounding(result, apart, tolerance);
  return result;
}

OptimizerJudgement test_optimizer(const MakeOptimizer& subject, const MakeOptimizer& reference,
                                  Sampler& data, std::int64_t steps, OptimizerTolerance tolerance) {
  expect_compared(steps, tolerance);
  OptimizerJudgement result;
  const auto mine = subject(), its = reference();
  result.closed = divergence(*mine, *its, data, steps);
  Measurement closed = difference_record(*mine, "trajectory_difference", result.closed);
  Measurement open = closed;
  open.metric = "rule_difference";
  try {
    const auto fresh = subject(), other = reference();
    result.open = divergence(*fresh, *other, data, steps, Loop::open);
    open.samples = result.open.largest();
    judge_rounding(open, result.open, tolerance);
  } catch (const Unsupported& refusal) {
    open.samples.clear();
    open.status = Status::skipped;
    open.reason = refusal.what();
  }
  judge_rounding(closed, result.closed, tolerance);
  if (closed.status == Status::failed && open.status == Status::passed) {
    // The rules are equal: their rounding errors have grown through the gradients.
    closed.status = Status::passed;
    closed.conditions["chaos"] = finding(closed.reason);
    closed.reason.clear();
  }
  result.records = {closed, open};
  add_parameters(result.records, closed, result.closed, "closed");
  add_parameters(result.records, open, result.open, "open");
  return result;
}

Measurement reproducibility_record(const Measurement& form, Network& first, Network& second) {
  Measurement result = form;
  result.metric = "reproducibility";
  result.unit = "1";
  result.quantity = Quantity::error;
  result.statistic = {.of = Statistic::Of::single};
  result.direction = Direction::lower_is_better;
  result.status = Status::passed;
  result.reason.clear();
  result.conditions.erase("accepted");
  const std::int64_t different = detail::differing_elements(first, second);
  result.samples = {double(different)};
  if (different > 0) {
    result.status = Status::failed;
    result.reason = fmt::format("{} parameter elements differ between two runs", different);
  }
  return result;
}

std::vector<Measurement> test_training(const Recipe& recipe, const SessionOptions& options) {
  TrainingSession first(recipe, options), second(recipe, options);
  std::vector<Measurement> results = first.run();
  (void)second.run();
  const Measurement form = results.empty() ? Measurement{} : results.front();
  results.push_back(reproducibility_record(form, first.network(), second.network()));
  return results;
}

}  // namespace d5
