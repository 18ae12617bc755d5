// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/level0_ops/validation/operator_validation.hpp"
#include "level0_ops/validation/differentiable_case.hpp"
#include "level0_ops/validation/float64_inputs.hpp"
#include "level0_ops/validation/gradient_tally.hpp"
#include "level0_ops/validation/narrow_gradient.hpp"
#include "level0_ops/validation/own_operator.hpp"
#include "level0_ops/validation/reference_gradient.hpp"
#include "level0_ops/validation/slopes.hpp"
#include "level0_ops/validation/validation_record.hpp"

namespace d5 {
namespace {

using detail::DifferentiableCase, detail::GradientTally, detail::Shape1d, detail::Slopes;

double product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

/// Checks every entry of the Jacobian of input `i`: rows by backward, columns by differences.
void check_full(DifferentiableCase& function, std::size_t i, const GradientOptions& options,
                GradientTally& tally) {
  std::vector<std::vector<double>> rows;
  std::vector<double> v(function.output_elements());
  for (double& one : v) {
    one = 1;
    rows.push_back(function.gradient(i, v));
    one = 0;
  }
  const std::vector<double>& x = function.start(i);
  for (std::size_t column = 0; column < x.size(); ++column) {
    std::vector<double> u(x.size());
    u[column] = 1;
    Slopes slopes(function, i, std::move(u), options.step * std::max(1.0, std::fabs(x[column])),
                  options.step, options.tolerance,
                  RandomStream(options.seed, std::uint32_t(i), std::uint32_t(column)));
    // If an output is not a number, or its slope is infinite, 0 times it turns the others to NaN.
    bool spoils = false;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const double slope = rows[row][column];
      if (std::isfinite(slope)) continue;
      spoils = spoils || slopes.shape(row) == Shape1d::undefined ||
               (std::isinf(slope) && slopes.distance(row, slope, false) == 0);
    }
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const double slope = rows[row][column];
      // Not caused by this element.
      if (slopes.shape(row) == Shape1d::undefined && slope == 0) continue;
      if (spoils && std::isnan(slope)) {
        tally.count(Shape1d::undefined, column);
        continue;
      }
      tally.compare(slopes, row, slope, column,
                    [&] { return fmt::format("output element {}, input {}[{}]", row, i, column); });
    }
  }
  if (!tally.has_kinks()) return;
  // Shares of equal numbers may each be correct, but too large together.
  for (int number = 0; number < 2; ++number) {
    RandomStream random(options.seed, std::uint32_t(i), std::uint32_t(x.size()) + number);
    std::vector<double> u(x.size());
    for (double& value : u) value = random.normal_double();
    Slopes slopes(function, i, u, options.step, options.step, options.tolerance, random);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      if (slopes.shape(row) != Shape1d::kink) continue;
      tally.compare_together(slopes, row, product(rows[row], u), [&] {
        return fmt::format("output element {}, direction {} of input {}", row, number, i);
      });
    }
  }
}

/// A projection: v^T J u of all smooth outputs together, and J u of some others individually.
class Projection {
 public:
  Projection(DifferentiableCase& function, std::size_t i, int number,
             const GradientOptions& options)
      : function_(function),
        i_(i),
        options_(options),
        name_(fmt::format("projection {} of input {}", number, i)),
        random_(options.seed, std::uint32_t(i), std::uint32_t(number)) {
    for (std::size_t k = 0; k < function.output_elements(); ++k) {
      v_.push_back(random_.normal_double());
    }
    for (std::size_t k = 0; k < function.start(i).size(); ++k) {
      u_.push_back(random_.normal_double());
    }
  }

  void check(GradientTally& tally) {
    Slopes slopes = along_u();
    leave_out_sharp(slopes);
    std::vector<double> gradient = function_.gradient(i_, v_);
    if (leave_out_undefined(slopes, gradient, tally)) slopes = along_u();
    if (!tally.agrees(product(gradient, u_), numerical(slopes)) && tally.is_open()) {
      slopes.look(kPlaces);
      leave_out_sharp(slopes);
      gradient = function_.gradient(i_, v_);
      (void)leave_out_undefined(slopes, gradient, tally);
    }
    const bool any = std::ranges::any_of(v_, [](double v) { return v != 0; });
    if (any) tally.compare(product(gradient, u_), numerical(slopes), name_);
    check_sharp(slopes, tally);
  }

 private:
  static constexpr int kPlaces = 64, kMostSharp = 32;

  Slopes along_u() {
    return Slopes(function_, i_, u_, options_.step, options_.step, options_.tolerance, random_);
  }
  void leave_out_sharp(const Slopes& slopes) {
    for (std::size_t k = 0; k < v_.size(); ++k) {
      if (slopes.shape(k) != Shape1d::smooth) v_[k] = 0;
    }
  }
  /// Gradients that result from 0 times NaN or an infinite slope carry no information: those inputs
  /// are not moved.
  bool leave_out_undefined(const Slopes& slopes, std::vector<double>& gradient,
                           GradientTally& tally) {
    bool any = false, changed = false;
    for (std::size_t k = 0; k < v_.size(); ++k) {
      if (!has_no_slope(slopes, k)) continue;
      tally.count(Shape1d::undefined, k);
      any = true;
    }
    for (std::size_t k = 0; any && k < u_.size(); ++k) {
      if (std::isfinite(gradient[k])) continue;
      gradient[k] = u_[k] = 0;
      changed = true;
    }
    return changed;
  }
  static bool has_no_slope(const Slopes& slopes, std::size_t k) {
    if (slopes.shape(k) == Shape1d::undefined) return true;
    const auto& [low, high] = slopes.range(k);
    return low <= high && !(std::isfinite(low) && std::isfinite(high));
  }
  [[nodiscard]] double numerical(const Slopes& slopes) const {
    double sum = 0;
    for (std::size_t k = 0; k < v_.size(); ++k) {
      if (v_[k] != 0) sum += v_[k] * slopes.central(k);
    }
    return sum;
  }
  /// Counts all sharp outputs, and compares a random selection.
  void check_sharp(Slopes& slopes, GradientTally& tally) {
    std::vector<std::int64_t> sharp;
    for (std::size_t k = 0; k < v_.size(); ++k) {
      if (slopes.shape(k) == Shape1d::smooth) continue;
      sharp.push_back(std::int64_t(k));
      tally.count(slopes.shape(k), k);
    }
    random_.shuffle(sharp);
    if (std::ssize(sharp) > kMostSharp) sharp.resize(kMostSharp);
    std::vector<double> one(v_.size());
    for (const std::int64_t place : sharp) {
      const auto k = std::size_t(place);
      one[k] = 1;
      const double slope = product(function_.gradient(i_, one), u_);
      one[k] = 0;
      tally.compare(slopes, k, slope, k,
                    [&] { return fmt::format("{}, output element {}", name_, k); });
    }
  }

  DifferentiableCase& function_;
  std::size_t i_;
  const GradientOptions& options_;
  std::string name_;
  RandomStream random_;
  std::vector<double> v_, u_;
};

/// The reason why the case runs in its own types but not in float64; empty if it runs in float64,
/// or in neither.
std::string obstacle_in_float64(const OperatorRegistry& registry, const OperatorCase& op_case,
                                const Interrupt& interrupt) {
  std::string reason;
  try {
    const DifferentiableCase function(registry, op_case, detail::float64_inputs(registry, op_case),
                                      interrupt);
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

std::vector<Measurement> check_inputs(const Measurement& base, const OperatorRegistry& registry,
                                      const OperatorCase& op_case, const GradientOptions& options) {
  std::vector<Measurement> results;
  DifferentiableCase function(registry, op_case, detail::float64_inputs(registry, op_case),
                              options.interrupt);
  for (std::size_t i = 0; i < function.inputs(); ++i) {
    if (!function.has_gradient(i)) continue;
    Measurement& one = results.emplace_back(base);
    if (auto reason = function.obstacle(); !reason.empty()) {
      if (detail::is_own(op_case.node)) {
        return detail::check_narrow_gradient(base, registry, op_case, options);
      }
      one.status = Status::skipped;
      one.reason = std::move(reason);
      return {one};
    }
    const bool full = options.mode == GradientMode::full ||
                      (options.mode == GradientMode::automatic && function.has_small_jacobian(i));
    GradientTally tally(options.tolerance);
    if (full) {
      check_full(function, i, options, tally);
    } else {
      for (int p = 0; p < options.projections; ++p) {
        Projection(function, i, p, options).check(tally);
      }
    }
    one.conditions["tensor"] = identity(fmt::format("gradient of input {}", i));
    one.conditions["mode"] = identity(full ? "full" : "projection");
    tally.write(one, full ? function.start(i).size() : function.output_elements());
  }
  return results;
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
    if (obstacle.empty()) {
      results = check_inputs(result, registry, op_case, options);
    } else if (detail::is_own(op_case.node)) {
      results = detail::check_narrow_gradient(result, registry, op_case, options);
    } else if (subject == "reference") {
      return unsupported(obstacle);  // the reference cannot judge itself
    } else {
      results = detail::compare_with_reference(result, registry, op_case, options.interrupt);
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
