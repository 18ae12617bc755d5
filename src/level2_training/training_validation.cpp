// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/training_validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "d5/core/error.hpp"
#include "level2_training/differing_elements.hpp"

namespace d5 {
namespace {

/// The largest difference of two parameters, relative to the larger one's largest element.
template <class T>
double difference(const Tensor& a, const Tensor& b) {
  double largest = 0, scale = 0;
  for (std::int64_t i = 0; i < a.elements(); ++i) {
    const double x = double(a.data<T>()[i]), y = double(b.data<T>()[i]);
    if (std::isnan(x) != std::isnan(y)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, std::abs(x - y));
    scale = std::max({scale, std::abs(x), std::abs(y)});
  }
  return largest == 0 ? 0 : largest / scale;
}

const Batch& next_batch(Sampler& data, std::int64_t& epoch) {
  if (const Batch* batch = data.next()) return *batch;
  data.reset(++epoch);
  if (const Batch* batch = data.next()) return *batch;
  throw ValueError("test_optimizer: the sampler gives no batch");
}

}  // namespace

Measurement test_optimizer(Optimizer& subject, Optimizer& reference, Sampler& data,
                           std::int64_t steps, OptimizerTolerance tolerance) {
  Network& network = subject.executor().network();
  std::vector<Parameter>& expected = reference.executor().network().parameters();
  if (network.parameters().size() != expected.size()) {
    throw ShapeError(fmt::format("test_optimizer: the networks have {} and {} parameters",
                                 network.parameters().size(), expected.size()));
  }
  for (const Parameter& parameter : expected) {
    network.parameter(parameter.name).value.copy_from(parameter.value);
  }
  Measurement result;
  result.subject = fmt::format("optimizer on {}", printable(network.name()));
  result.level = "training";
  result.framework = subject.executor().framework();
  result.metric = "trajectory_difference";
  result.unit = "1";
  result.quantity = Quantity::error;
  result.statistic = {.of = Statistic::Of::maximum};
  std::int64_t epoch = 0;
  data.reset(epoch);
  for (std::int64_t step = 1; step <= steps; ++step) {
    const Batch& batch = next_batch(data, epoch);
    reference.step(batch);
    subject.step(batch);
    double largest = 0, epsilon = 0;
    for (const Parameter& parameter : expected) {
      dispatch(RealTypes{}, parameter.value.dtype(), "test_optimizer", [&]<class T>() {
        largest = std::max(largest,
                           difference<T>(network.parameter(parameter.name).value, parameter.value));
        epsilon = std::max(epsilon, double(std::numeric_limits<T>::epsilon()));
      });
    }
    result.samples.push_back(largest);
    const double allowed = tolerance.epsilons_a_step * epsilon * double(step);
    if (!(largest <= allowed) && result.status != Status::failed) {
      result.status = Status::failed;
      result.reason = fmt::format(
          "step {}: the parameters differ by {:.3g} of their size, {:.3g} is "
          "allowed",
          step, largest, allowed);
    }
  }
  return result;
}

std::vector<Measurement> test_training(const Recipe& recipe, const SessionOptions& options) {
  TrainingSession first(recipe, options), second(recipe, options);
  std::vector<Measurement> results = first.run();
  (void)second.run();
  Measurement result = results.empty() ? Measurement{} : results.front();
  result.metric = "reproducibility";
  result.unit = "1";
  result.quantity = Quantity::error;
  result.statistic = {.of = Statistic::Of::single};
  result.direction = Direction::lower_is_better;
  result.status = Status::passed;
  result.reason.clear();
  result.conditions.erase("accepted");
  const std::int64_t different = detail::differing_elements(first.network(), second.network());
  result.samples = {double(different)};
  if (different > 0) {
    result.status = Status::failed;
    result.reason = fmt::format("{} parameter elements differ between two runs", different);
  }
  results.push_back(std::move(result));
  return results;
}

}  // namespace d5
