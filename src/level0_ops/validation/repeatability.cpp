// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/run/operator_runner.hpp"
#include "d5/level0_ops/validation/error_norms.hpp"
#include "d5/level0_ops/validation/operator_validation.hpp"
#include "level0_ops/run/differentiable_inputs.hpp"
#include "level0_ops/run/output_gradients.hpp"
#include "level0_ops/validation/picture_of_record.hpp"
#include "level0_ops/validation/validation_record.hpp"

namespace d5 {
namespace {

template <class T>
bool same_bits(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, std::string>) {
    return a == b;
  } else {
    return std::memcmp(&a, &b, sizeof(T)) == 0;
  }
}

/// A tensor over all runs. Source of the variance: Welford, "Note on a Method for Calculating
/// Corrected Sums of Squares and Products" (1962).
class TensorRuns {
 public:
  explicit TensorRuns(const Tensor& first)
      : first_(first.copy()),
        differs_(std::size_t(first.elements())),
        means_(std::size_t(first.elements())),
        squares_(std::size_t(first.elements())) {
    add(first_);
  }

  void add(const Tensor& now) {
    ++runs_;
    if (now.desc() != first_.desc()) {
      throw ShapeError(fmt::format("run {} gave {}, the first {}", runs_, to_string(now.desc()),
                                   to_string(first_.desc())));
    }
    dispatch(AllTypes{}, now.dtype(), "test_repeatability", [&]<class T>() {
      const T *here = now.data<T>(), *first = first_.data<T>();
      for (std::size_t i = 0; i < differs_.size(); ++i) {
        if (!same_bits(here[i], first[i])) differs_[i] = true;
        if constexpr (is_real<T>) {
          const double value = double(Arithmetic<T>(here[i])), off = value - means_[i];
          means_[i] += off / runs_;
          squares_[i] += off * (value - means_[i]);
        }
      }
    });
  }

  [[nodiscard]] std::int64_t differing() const {
    return std::count(differs_.begin(), differs_.end(), true);
  }
  [[nodiscard]] bool has_variance() const { return is_floating_point(first_.dtype()); }
  /// The variance of each element over the runs; 0 if all bits are equal, even for NaN.
  [[nodiscard]] Tensor variance() const {
    Tensor result = Tensor::zeros(DType::float64, first_.shape());
    for (std::size_t i = 0; i < differs_.size(); ++i) {
      if (differs_[i]) result.data<double>()[i] = squares_[i] / (runs_ - 1);
    }
    return result;
  }

 private:
  template <class T>
  static constexpr bool is_real = std::is_floating_point_v<Arithmetic<T>>;

  Tensor first_;
  std::vector<bool> differs_;
  std::vector<double> means_, squares_;
  int runs_ = 0;
};

/// Outputs or gradients by index.
using Runs = std::map<std::size_t, TensorRuns>;

void add_run(Runs& runs, std::size_t place, const Tensor& tensor) {
  const Tensor now = tensor.on_host();
  if (const auto found = runs.find(place); found != runs.end()) return found->second.add(now);
  runs.emplace(place, now);
}

/// Adds the records of a tensor.
void add_records(std::vector<Measurement>& records, const TensorRuns& runs, Measurement like,
                 const std::string& heatmaps) {
  like.metric = "repeatability";
  like.quantity = Quantity::error;
  like.samples = {double(runs.differing())};
  if (runs.differing() > 0) {
    like.status = Status::failed;
    like.reason = fmt::format("{} elements differ from one run to another", runs.differing());
  }
  records.push_back(like);
  if (!runs.has_variance()) return;
  const Tensor variance = runs.variance();
  const ErrorNorms norms = error_norms(variance, Tensor::zeros(DType::float64, variance.shape()));
  like.metric = "variance_over_runs";
  like.samples = {norms.l_infinity};
  like.status = Status::passed;  // informs only; the record before it judges
  like.reason.clear();
  if (!norms.place.empty())
    like.conditions["at"] = finding(fmt::format("{}", fmt::join(norms.place, ",")));
  if (!heatmaps.empty() && runs.differing() > 0) {
    Tensor deviation = variance.copy();
    for (double& value : deviation.span<double>()) value = std::sqrt(value);
    detail::add_heatmap(like, deviation, heatmaps, "deviation");
  }
  records.push_back(like);
}

class RepeatedRuns {
 public:
  RepeatedRuns(const OperatorCase& op_case, const OperatorRegistry& registry,
               const RepeatabilityOptions& options)
      : op_case_(op_case), registry_(registry), options_(options) {}

  [[nodiscard]] Runs forward() const {
    Runs outputs;
    OperatorRunner runner = plan(Mode::inference);
    for (int run = 0; run < options_.runs; ++run) {
      forward(runner);
      for (std::size_t i = 0; i < runner.output_count(); ++i) {
        if (!op_case_.node.has_output(i) || !runner.output(i).is_tensor()) continue;
        add_run(outputs, i, runner.output(i).tensor());
      }
    }
    return outputs;
  }

  [[nodiscard]] bool has_backward() const {
    const auto op = operator_for(op_case_.node, std::vector{&registry_});
    return !detail::differentiable_inputs(op_case_, *op).empty();
  }

  /// Gradients of the inputs.
  [[nodiscard]] Runs backward() const {
    Runs gradients;
    OperatorRunner runner = plan(Mode::training);
    for (int run = 0; run < options_.runs; ++run) {
      forward(runner);
      options_.interrupt.check(op_case_.line);
      runner.backward(detail::output_gradients(runner, op_case_));
      runner.synchronise();
      for (std::size_t i = 0; i < op_case_.inputs.size(); ++i) {
        if (runner.grad_input(i).defined()) add_run(gradients, i, runner.grad_input(i));
      }
    }
    return gradients;
  }

 private:
  [[nodiscard]] OperatorRunner plan(Mode mode) const {
    return {registry_, op_case_.node, op_case_.inputs, mode, Guard::off, options_.device};
  }
  void forward(OperatorRunner& runner) const {
    options_.interrupt.check(op_case_.line);
    runner.forward();
    runner.synchronise();
  }

  const OperatorCase& op_case_;
  const OperatorRegistry& registry_;
  const RepeatabilityOptions& options_;
};

std::vector<Measurement> compare(Measurement result, const OperatorCase& op_case,
                                 const std::string& subject, const RepeatabilityOptions& options) {
  using Passes = RepeatabilityOptions::Passes;
  std::vector<Measurement> records;
  const auto judge = [&](const Runs& runs, const char* what) {
    for (const auto& [i, tensor] : runs) {
      result.conditions["tensor"] = identity(fmt::format("{} {}", what, i));
      add_records(records, tensor, result, options.heatmaps);
    }
  };
  try {
    Framework& tested = framework(subject);
    result.framework_version = tested.version();
    const RepeatedRuns repeated(op_case, tested.part<OperatorRegistry>(), options);
    judge(repeated.forward(), "output");
    if (options.passes == Passes::both && repeated.has_backward()) {
      result.conditions["tensor"] = identity("gradients");  // if there are none
      judge(repeated.backward(), "gradient of input");
    }
  } catch (const IoError&) {  // a picture's error is not a finding
    throw;
  } catch (...) {
    record_failure(records.emplace_back(result), std::current_exception());
  }
  return records;
}

}  // namespace

std::vector<Measurement> test_repeatability(const OperatorCase& op_case, const std::string& subject,
                                            const RepeatabilityOptions& options) {
  if (options.runs < 2) {
    throw ValueError(fmt::format("test_repeatability: {} runs, expected 2 or more", options.runs));
  }
  CommandLine own;
  if (options.passes == RepeatabilityOptions::Passes::forward) own.flag("--no-gradient");
  own.option("--repeat", options.runs);
  if (!options.heatmaps.empty()) own.option("--heatmap", options.heatmaps);
  Measurement record =
      detail::validation_record(op_case, subject, "repeatability", options.device, own);
  record.conditions["runs"] = finding(options.runs);
  return isolated(options.isolation, record,
                  [&] { return compare(record, op_case, subject, options); });
}

}  // namespace d5
