// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/validation/numeric_gradients.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/tensor/float64.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/level1_network/graph/execution_interrupt.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "level1_network/nodes/random_nodes.hpp"
#include "level1_network/validation/float64_network.hpp"
#include "level1_network/validation/value_check.hpp"

namespace d5 {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
/// Relative to a gradient's largest number. The error of a central difference is about the square
/// of its step, 4e-11, for a function whose third derivative is of the size of its first; networks
/// bend more.
constexpr double kRelative = 1e-6;
/// Digits lost in a loss that is summed over many layers: 100 roundings.
constexpr double kRoundings = 100;
/// Factor of the finer step that distinguishes a kink from curvature.
constexpr double kFiner = 16;

/// An expected slope and its tolerance. At a kink it is the middle of the slopes on both sides,
/// within their distance; otherwise it is within rounding error.
struct Slope {
  double value, gap, rounding;
  [[nodiscard]] double uncertain() const { return gap / 2 + rounding; }
};

class FiniteDifferences {
 public:
  FiniteDifferences(const GraphExecutor& executor, const Network& network, const ValueMap& inputs,
                    std::string_view loss, const Interrupt& interrupt)
      : executor_(make_executor(in_float64(network), {.frameworks = frameworks_of(executor)})),
        within_(*executor_, interrupt),
        inputs_(in_float64(inputs)),
        loss_(loss) {
    executor_->set_mode(executor.mode());
    (void)executor_->inference_and_backprop(inputs_, loss_);
    for (const Parameter& parameter : executor_->network().parameters()) {
      gradients_.push_back(parameter.gradient.copy());
    }
    middle_ = this->loss();
  }

  [[nodiscard]] const std::vector<Parameter>& parameters() {
    return executor_->network().parameters();
  }
  [[nodiscard]] const Tensor& gradient(std::size_t parameter) const {
    return gradients_[parameter];
  }

  /// Slope along element `i` of the parameter.
  [[nodiscard]] Slope slope(const Parameter& parameter, std::int64_t i, double scale) {
    const double step =
        std::cbrt(kEpsilon) * std::max(1.0, std::fabs(parameter.value.data<double>()[i]));
    const Slope wide = slope_within(parameter, i, step);
    const double most = kRelative * scale + wide.rounding;
    if (wide.gap <= most) return {wide.value, 0, wide.rounding};
    // A gap that stays is a kink. A gap that shrinks with the step belongs to a curved slope, or to
    // a nearby kink that the wider step reaches.
    const Slope fine = slope_within(parameter, i, step / kFiner);
    if (fine.gap > wide.gap * 2 / kFiner + fine.rounding) return fine;
    const bool agree = std::fabs(fine.value - wide.value) <= most + fine.rounding;
    return agree ? Slope{wide.value, 0, wide.rounding} : Slope{fine.value, 0, fine.rounding};
  }

 private:
  [[nodiscard]] Slope slope_within(const Parameter& parameter, std::int64_t i, double step) {
    Tensor value = parameter.value;
    double& w = value.data<double>()[i];
    const double before = w;
    w = before + step;
    const double above = w - before, right = loss();
    w = before - step;
    const double below = before - w, left = loss();
    w = before;
    return {(right - left) / (above + below),
            std::fabs((right - middle_) / above - (middle_ - left) / below),
            kRoundings * kEpsilon * std::fabs(middle_) / step};
  }
  /// The loss as backpropagation computes it.
  double loss() {
    const auto batch = executor_->forward(inputs_, {loss_});
    return detail::to_float64(batch->outputs().at(loss_).tensor()).item<double>();
  }

  std::unique_ptr<GraphExecutor> executor_;
  InterruptibleRuns within_;
  ValueMap inputs_;
  std::string loss_;
  std::vector<Tensor> gradients_;
  double middle_ = 0;
};

std::vector<std::int64_t> sampled(std::int64_t elements, const NumericGradientOptions& options,
                                  RandomStream& random) {
  std::set<std::int64_t> places;
  if (elements <= options.elements) {
    for (std::int64_t i = 0; i < elements; ++i) places.insert(i);
  }
  while (std::ssize(places) < std::min(elements, options.elements)) {
    places.insert(std::int64_t(random.below(std::uint64_t(elements))));
  }
  return {places.begin(), places.end()};
}

double largest_entry(const Tensor& tensor) {
  double largest = 0;
  for (const double element : tensor.span<double>()) {
    if (std::isfinite(element)) largest = std::max(largest, std::fabs(element));
  }
  return largest;
}

Measurement check(FiniteDifferences& differences, std::size_t p, const Measurement& base,
                  const NumericGradientOptions& options) {
  const Parameter& parameter = differences.parameters()[p];
  const Tensor& gradient = differences.gradient(p);
  Measurement record = base;
  const std::string what = "gradient of " + printable(parameter.name);
  record.conditions["tensor"] = identity(what);
  const double scale = largest_entry(gradient);
  RandomStream random(options.seed, stream_of(parameter.name));
  double largest = 0;
  std::size_t kinks = 0;
  std::int64_t no_numbers = 0;
  const auto places = sampled(gradient.elements(), options, random);
  for (const std::int64_t i : places) {
    const double got = gradient.data<double>()[i];
    const Slope slope = differences.slope(parameter, i, scale);
    if (!std::isfinite(slope.value)) ++no_numbers;
    if (!std::isfinite(slope.value) && !std::isfinite(got)) continue;
    if (slope.gap > 0) ++kinks;
    const double off = std::fabs(got - slope.value);
    const double error = off <= slope.gap / 2 ? 0 : off - slope.gap / 2;
    if (error > 0) largest = std::max(largest, error / std::max(scale, std::fabs(slope.value)));
    if (std::isfinite(error) && error <= kRelative * scale + slope.rounding) continue;
    record.status = Status::failed;
    record.reason = fmt::format(
        "{}: element {} is {:.9g}, but finite differences of the loss say {:.9g} ± {:.2g}", what, i,
        got, slope.value, slope.uncertain());
  }
  record.conditions["elements"] =
      finding(fmt::format("{} of {}", places.size(), gradient.elements()));
  if (kinks > 0)
    record.conditions["kinks"] = finding(fmt::format("{} of {}", kinks, places.size()));
  record.samples = {largest};
  const auto count = std::ssize(places);
  if (count == 0) detail::mistrust_uncompared(record, what, "it has no elements: give inputs");
  if (2 * no_numbers > count) {
    detail::mistrust_uncompared(
        record, what,
        fmt::format("finite differences are NaN or infinite in {} of {} elements: give inputs",
                    no_numbers, count));
  }
  return record;
}

Measurement skipped(Measurement record, const std::string& reason) {
  record.status = Status::skipped;
  record.reason = reason;
  return record;
}

}  // namespace

std::vector<Measurement> test_numeric_gradients(GraphExecutor& executor, const ValueMap& inputs,
                                                std::string_view loss,
                                                const NumericGradientOptions& options,
                                                const Interrupt& interrupt) {
  const Network& network = executor.network();
  Measurement base = error_record(printable(network.name()), executor.framework());
  base.conditions["judge"] = finding("finite differences in float64");
  return guarded(base, [&]() -> std::vector<Measurement> {
    if (draws_random_numbers(network.graph())) {
      return {skipped(base, "the network draws random numbers: its loss differs from run to run")};
    }
    std::optional<FiniteDifferences> differences;
    try {
      differences.emplace(executor, network, inputs, loss, interrupt);
    } catch (const Unsupported& error) {
      return {skipped(base, error.what())};
    }
    std::vector<Measurement> records;
    for (std::size_t p = differences->parameters().size(); p-- > 0;) {  // the first layer's first
      records.push_back(check(*differences, p, base, options));
    }
    return records;
  });
}

}  // namespace d5
