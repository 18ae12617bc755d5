// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "d5/core/error.hpp"
#include "d5/core/framework.hpp"
#include "d5/core/random.hpp"
#include "d5/level0_ops/operator_runner.hpp"
#include "d5/level0_ops/operator_validation.hpp"
#include "d5/onnx/schema.hpp"
#include "level0_ops/validation/float64_inputs.hpp"
#include "level0_ops/validation/reference_gradient.hpp"
#include "level0_ops/validation/validation_record.hpp"
#include "level0_ops/validation/worse.hpp"

namespace d5 {
namespace {

constexpr std::int64_t kMostInputs = 200, kMostOutputs = 2000;  // of a full Jacobian

/// The operator as a function of its real inputs, in float64, with its derivative.
class Function {
 public:
  Function(const OperatorRegistry& registry, const OperatorCase& op_case,
           const Interrupt& interrupt)
      : runner_(registry, op_case.node, detail::float64_inputs(registry, op_case), Mode::training,
                Guard::on),
        line_(op_case.line),
        interrupt_(interrupt) {
    const auto schema = onnx::schema_of(op_case.node);
    forward();
    const auto is_real = [&](std::size_t i) {
      return runner_.output(i).is_tensor() && runner_.output(i).tensor().dtype() == DType::float64;
    };
    const auto is_differentiable = [&](std::size_t i) {
      const auto* output = schema ? onnx::parameter(schema->outputs, i) : nullptr;
      return is_real(i) && !(output && output->non_differentiable);
    };
    bool any = false;
    for (std::size_t i = 0; i < runner_.output_count(); ++i) any = any || is_differentiable(i);
    for (std::size_t i = 0; i < runner_.output_count(); ++i) {
      // Where ONNX calls all outputs non-differentiable, as STFT's, the operator knows better.
      const bool counts = any ? is_differentiable(i) : is_real(i);
      directions_.push_back(
          counts ? Tensor::zeros(DType::float64, runner_.output(i).tensor().shape()) : Tensor());
    }
  }

  /// Null for an input without gradient.
  [[nodiscard]] Tensor* input(std::size_t i) {
    return runner_.grad_input(i).defined() ? &runner_.input(i).tensor() : nullptr;
  }
  /// What the outputs are multiplied with: v in v^T F(x). Undefined where it is no function of x.
  [[nodiscard]] std::vector<Tensor>& directions() { return directions_; }

  /// Why central differences say nothing of it; empty where they do.
  [[nodiscard]] std::string obstacle() const {
    std::string outputs;
    for (std::size_t i = 0; i < directions_.size(); ++i) {
      if (directions_[i].defined()) return {};
      if (!runner_.output(i).is_tensor()) continue;
      outputs += fmt::format("{}output {} is {}", outputs.empty() ? "" : ", ", i,
                             name_of(runner_.output(i).tensor().dtype()));
    }
    return fmt::format("gradients are checked in float64, and none of its outputs is that: {}",
                       outputs);
  }

  /// The elements of every output that has a direction, one after another.
  [[nodiscard]] std::vector<double> values() {
    forward();
    std::vector<double> result;
    for (std::size_t i = 0; i < directions_.size(); ++i) {
      if (!directions_[i].defined()) continue;
      const auto y = std::as_const(runner_.output(i)).tensor().span<double>();
      result.insert(result.end(), y.begin(), y.end());
    }
    return result;
  }
  /// v^T F(x)
  [[nodiscard]] double project() {
    const std::vector<double> y = values();
    double sum = 0;
    std::size_t k = 0;
    for (Tensor& direction : directions_) {
      if (!direction.defined()) continue;
      for (const double v : direction.span<double>()) sum += v * y[k++];
    }
    return sum;
  }
  [[nodiscard]] std::int64_t output_elements() const {
    std::int64_t count = 0;
    for (const Tensor& direction : directions_) count += direction.elements();
    return count;
  }
  /// v^T J for input `i`, at the inputs of the last forward run.
  [[nodiscard]] const Tensor& gradient(std::size_t i) {
    forward();
    interrupt_.check(line_);
    runner_.backward(directions_);
    return runner_.grad_input(i);
  }

 private:
  void forward() {
    interrupt_.check(line_);
    runner_.forward();
  }
  OperatorRunner runner_;
  std::string line_;
  const Interrupt& interrupt_;
  std::vector<Tensor> directions_;
};

/// The largest error so far, and whether all were within tolerance.
struct Verdict {
  double tolerance;
  double largest = 0;
  std::string where = {};

  template <class Place>
  void compare(double analytic, double numerical, Place&& place) {
    const double error = std::fabs(analytic - numerical) / std::max(1.0, std::fabs(numerical));
    largest = detail::worse(largest, error);
    if (!(error <= tolerance) && where.empty()) {
      where = fmt::format("{}: backward says {}, central differences say {}", place(), analytic,
                          numerical);
    }
  }
};

double* element(Tensor& tensor, std::int64_t i) { return tensor.data<double>() + i; }

/// Every entry of the Jacobian of input `i`: rows by backward, columns by central differences.
void check_full(Function& function, std::size_t i, const GradientOptions& options,
                Verdict& verdict) {
  Tensor& x = *function.input(i);
  std::vector<Tensor> rows;
  for (Tensor& direction : function.directions()) {
    for (std::int64_t row = 0; direction.defined() && row < direction.elements(); ++row) {
      *element(direction, row) = 1;
      rows.push_back(function.gradient(i).copy());
      *element(direction, row) = 0;
    }
  }
  for (std::int64_t column = 0; column < x.elements(); ++column) {
    const double before = *element(x, column);
    const double step = options.step * std::max(1.0, std::fabs(before));
    *element(x, column) = before + step;
    const std::vector<double> above = function.values();
    *element(x, column) = before - step;
    const std::vector<double> below = function.values();
    *element(x, column) = before;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      verdict.compare(*element(rows[row], column), (above[row] - below[row]) / (2 * step), [&] {
        return fmt::format("output element {}, input {}[{}]", row, i, column);
      });
    }
  }
}

/// v^T J u against central differences along u, for random v and u.
void check_projections(Function& function, std::size_t i, const GradientOptions& options,
                       Verdict& verdict) {
  Tensor& x = *function.input(i);
  const Tensor start = x.copy();
  for (int p = 0; p < options.projections; ++p) {
    RandomStream random(options.seed, std::uint32_t(i), std::uint32_t(p));
    for (Tensor& direction : function.directions()) {
      if (!direction.defined()) continue;
      for (double& v : direction.span<double>()) v = random.normal_double();
    }
    std::vector<double> u(std::size_t(x.elements()));
    for (double& value : u) value = random.normal_double();
    double analytic = 0;
    const auto gradient = function.gradient(i).span<double>();
    for (std::size_t k = 0; k < u.size(); ++k) analytic += gradient[k] * u[k];
    const auto along = [&](double step) {
      for (std::size_t k = 0; k < u.size(); ++k) {
        *element(x, std::int64_t(k)) = start.span<double>()[k] + step * u[k];
      }
      return function.project();
    };
    const double numerical = (along(options.step) - along(-options.step)) / (2 * options.step);
    x.copy_from(start);
    verdict.compare(analytic, numerical,
                    [&] { return fmt::format("projection {} of input {}", p, i); });
  }
}

/// Why the case runs in its own types but not in float64; empty where it does, or in neither.
std::string obstacle_in_float64(const OperatorRegistry& registry, const OperatorCase& op_case,
                                const Interrupt& interrupt) {
  std::string reason;
  try {
    const Function function(registry, op_case, interrupt);
    return {};
  } catch (const Unsupported& error) {
    reason = error.what();
  } catch (const TypeError& error) {
    reason = error.what();
  }
  try {
    interrupt.check(op_case.line);
    OperatorRunner(registry, op_case.node, op_case.inputs).forward();
  } catch (const Interrupted&) {
    throw;
  } catch (const Error&) {
    return {};
  }
  return "gradients are checked in float64, in which it does not run: " + reason;
}

std::vector<Measurement> compare_gradients(Measurement result, const OperatorCase& op_case,
                                           const std::string& subject,
                                           const GradientOptions& options) {
  const auto unsupported = [&](std::string reason) {
    result.status = Status::unsupported;
    result.reason = std::move(reason);
    return std::vector<Measurement>{result};
  };
  std::vector<Measurement> results;
  try {
    Framework& tested = framework(subject);
    result.framework_version = tested.version();
    const auto& registry = tested.part<OperatorRegistry>();
    if (const Support support = registry.knows(op_case.node); !support) {
      return unsupported(support.reason);
    }
    const std::string obstacle = obstacle_in_float64(registry, op_case, options.interrupt);
    if (!obstacle.empty()) {
      if (subject == "reference") return unsupported(obstacle);  // no judge of itself
      results = detail::compare_with_reference(result, registry, op_case, options.interrupt);
    }
    for (std::size_t i = 0; obstacle.empty() && i < op_case.inputs.size(); ++i) {
      // A function of its own for each input: directions start at zero.
      Function function(registry, op_case, options.interrupt);
      if (!function.input(i)) continue;
      if (auto reason = function.obstacle(); !reason.empty()) {
        result.status = Status::skipped;
        result.reason = std::move(reason);
        return {result};
      }
      const bool full =
          options.mode == GradientMode::full || (options.mode == GradientMode::automatic &&
                                                 function.input(i)->elements() <= kMostInputs &&
                                                 function.output_elements() <= kMostOutputs);
      Verdict verdict{options.tolerance};
      (full ? check_full : check_projections)(function, i, options, verdict);
      Measurement& one = results.emplace_back(result);
      one.samples = {verdict.largest};
      one.conditions["tensor"] = fmt::format("gradient of input {}", i);
      one.conditions["mode"] = full ? "full" : "projection";
      if (verdict.where.empty()) continue;
      one.status = Status::failed;
      one.reason = verdict.where;
    }
    if (results.empty()) {
      result.status = Status::skipped;
      result.reason = "no input is differentiable";
      return {result};
    }
  } catch (...) {
    record_failure(result, std::current_exception());
    return {result};
  }
  return results;
}

}  // namespace

std::vector<Measurement> test_gradient(const OperatorCase& op_case, const std::string& subject,
                                       const GradientOptions& options) {
  const Measurement record = detail::validation_record(op_case, subject, "gradient");
  return isolated(options.isolation, record,
                  [&] { return compare_gradients(record, op_case, subject, options); });
}

}  // namespace d5
