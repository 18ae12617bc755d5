// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "d5/core/error.hpp"
#include "d5/core/framework.hpp"
#include "d5/level0_ops/error_norms.hpp"
#include "d5/level0_ops/operator_runner.hpp"
#include "d5/level0_ops/operator_validation.hpp"
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

/// One output over the runs. Source of the variance: Welford, "Note on a Method for Calculating
/// Corrected Sums of Squares and Products" (1962).
class OutputRuns {
 public:
  explicit OutputRuns(const Tensor& first)
      : first_(first.copy()),
        differs_(std::size_t(first.elements())),
        means_(std::size_t(first.elements())),
        squares_(std::size_t(first.elements())) {
    add(first_);
  }

  void add(const Tensor& output) {
    ++runs_;
    if (output.desc() != first_.desc()) {
      throw ShapeError(fmt::format("run {} gave {}, the first {}", runs_, to_string(output.desc()),
                                   to_string(first_.desc())));
    }
    dispatch(AllTypes{}, output.dtype(), "test_repeatability", [&]<class T>() {
      const T *now = output.data<T>(), *first = first_.data<T>();
      for (std::size_t i = 0; i < differs_.size(); ++i) {
        if (!same_bits(now[i], first[i])) differs_[i] = true;
        if constexpr (is_real<T>) {
          const double value = double(Arithmetic<T>(now[i])), off = value - means_[i];
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
  /// Of each element over the runs; 0 where all bits are the same, whatever they say.
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

/// What the runs of one output showed.
void add_records(std::vector<Measurement>& records, const OutputRuns& output, Measurement like) {
  like.metric = "repeatability";
  like.quantity = Quantity::error;
  like.samples = {double(output.differing())};
  if (output.differing() > 0) {
    like.status = Status::failed;
    like.reason = fmt::format("{} elements differ from one run to another", output.differing());
  }
  records.push_back(like);
  if (!output.has_variance()) return;
  const Tensor variance = output.variance();
  const ErrorNorms norms = error_norms(variance, Tensor::zeros(DType::float64, variance.shape()));
  like.metric = "variance_over_runs";
  like.samples = {norms.l_infinity};
  like.status = Status::passed;  // it tells, the record before it judges
  like.reason.clear();
  if (!norms.place.empty()) like.conditions["at"] = fmt::format("{}", fmt::join(norms.place, ","));
  records.push_back(like);
}

}  // namespace

std::vector<Measurement> test_repeatability(const OperatorCase& op_case, const std::string& subject,
                                            int runs, Device device) {
  if (runs < 2)
    throw ValueError(fmt::format("test_repeatability: {} runs, expected 2 or more", runs));
  Measurement result = detail::validation_record(op_case, subject, "repeatability", device);
  result.command += fmt::format(" --repeat {}", runs);
  result.conditions["runs"] = fmt::format("{}", runs);
  std::vector<Measurement> records;
  try {
    Framework& tested = framework(subject);
    result.framework_version = tested.version();
    OperatorRunner runner(tested.part<OperatorRegistry>(), op_case.node, op_case.inputs,
                          Mode::inference, Guard::off, device);
    std::map<std::size_t, OutputRuns> outputs;
    for (int run = 0; run < runs; ++run) {
      runner.forward();
      runner.synchronise();
      for (std::size_t i = 0; i < runner.output_count(); ++i) {
        if (!op_case.node.has_output(i) || !runner.output(i).is_tensor()) continue;
        const Tensor now = runner.output(i).tensor().on_host();
        if (run == 0) {
          outputs.emplace(i, now);
        } else {
          outputs.at(i).add(now);
        }
      }
    }
    for (const auto& [i, output] : outputs) {
      result.conditions["tensor"] = fmt::format("output {}", i);
      add_records(records, output, result);
    }
  } catch (const std::exception&) {
    record_failure(result, std::current_exception());
    return {result};
  }
  return records;
}

}  // namespace d5
