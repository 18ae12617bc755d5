// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/bench/operator_judge.hpp"

#include <fmt/format.h>

#include "core/tensor/float64.hpp"
#include "d5/core/entries/framework.hpp"
#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/measuring/isolation.hpp"
#include "level0_ops/operator/drawn_values.hpp"
#include "level0_ops/operator/tensor_conversion.hpp"
#include "level0_ops/validation/draw_judge.hpp"
#include "level0_ops/validation/evidence.hpp"
#include "level0_ops/validation/float64_inputs.hpp"
#include "level0_ops/validation/output_evidence.hpp"
#include "level0_ops/validation/rounding_tolerance.hpp"

namespace d5::detail {
namespace {

constexpr const char* kReference = "reference";
constexpr const char* kExact = "reference in float64";

Value on_host(const Value& value) {
  return value.is_tensor() ? Value(value.tensor().on_host()) : value;
}

Verdict wrong(const std::string& judge, const std::string& what, const Difference& difference) {
  return {Verdict::Is::wrong, judge, fmt::format("{}: {}", what, difference.where)};
}

/// Combined verdict of several answers: right if all agree, unless one is not a number, or none
/// carries information.
class WeighedVerdict {
 public:
  explicit WeighedVerdict(std::string judge) : judge_(std::move(judge)) {}

  /// `weigh` marks a passed record if the answer carries no information.
  void add(const std::function<void(Measurement&)>& weigh) {
    Measurement record = error_record();
    weigh(record);
    ++answers_;
    if (!compared_nothing(record)) return;
    ++lacking_;
    if (lack_.empty()) lack_ = record.reason;
    if (compared_nothing_finite(record)) no_number_ = record.reason;
  }
  [[nodiscard]] Verdict verdict() const {
    if (!no_number_.empty()) return {Verdict::Is::uncompared, judge_, no_number_};
    if (lacking_ > 0 && lacking_ == answers_) return {Verdict::Is::uncompared, judge_, lack_};
    return {Verdict::Is::right, judge_, ""};
  }

 private:
  std::string judge_, lack_ = {}, no_number_ = {};
  int answers_ = 0, lacking_ = 0;
};

/// Runs the reference in float64, or if that fails, in the case's own types. Throws: what the
/// latter throws.
template <class F>
std::string exactly_if_it_can(F&& compute) {
  try {
    compute(true);
    return kExact;
  } catch (const Interrupted&) {
    throw;
  } catch (const Error&) {
    compute(false);
    return kReference;
  }
}

}  // namespace

bool OperatorJudge::is_in_time(const Cost& cost, const std::function<void()>& compute) const {
  // Minimal rate of the reference, in operations and bytes per second.
  constexpr double kLeastRate = 1e8;
  const double work = cost.flop + cost.bytes_read + cost.bytes_written;
  if (work <= most_seconds_ * kLeastRate) return true;
  const auto records =
      isolated({.most_seconds = most_seconds_, .interrupt = interrupt_}, error_record(), [&] {
        Measurement ended = error_record();
        ended.status = Status::passed;
        try {
          compute();
        } catch (const std::exception&) {  // reported by the real run
        }
        return std::vector{ended};
      });
  interrupt_.check("judging");
  return records.front().status == Status::passed;
}

Verdict OperatorJudge::judges_others() const {
  return {Verdict::Is::unknown, "",
          fmt::format("it judges the others: the reference takes longer than {}",
                      option_word("judge_seconds", most_seconds_))};
}

Verdict OperatorJudge::outputs(const OperatorRunner& runner, const std::string& framework) {
  if (one_.expected.empty() && draws_random_numbers(one_.node)) {
    std::vector<Value> drawn;
    for (std::size_t i = 0; i < runner.output_count(); ++i) {
      drawn.push_back(on_host(runner.output(i)));
    }
    DrawJudge judge(one_.node);
    judge.add(one_.inputs, drawn);
    const Measurement record = judge.record(error_record());
    const bool is_wrong = record.status == Status::failed;
    return {is_wrong ? Verdict::Is::wrong : Verdict::Is::right, "its distribution", record.reason};
  }
  const auto expect = [&] {
    judge_ = exactly_if_it_can(
        [&](bool exact) { outputs_ = expected_outputs(one_, kReference, exact, {}); });
  };
  if (!outputs_ && !one_.expected.empty()) {
    expect();
    judge_ = "the case";
  } else if (!outputs_ && is_in_time(runner.cost(), expect)) {
    expect();
  } else if (!outputs_) {
    outputs_ = ExpectedOutputs{.cost = summing_cost(runner.cost(), one_)};
    for (std::size_t i = 0; i < runner.output_count(); ++i) {
      const Value value = on_host(runner.output(i));
      outputs_->values.push_back(value.is_tensor() ? Value(value.tensor().copy({})) : value);
    }
    judge_ = stand_in_ = framework;
  }
  if (framework == stand_in_) return judges_others();
  WeighedVerdict verdict(judge_);
  for (const std::size_t i : comparable_outputs(one_, runner, *outputs_)) {
    const std::string what = fmt::format("output {}", i);
    const Value got = on_host(runner.output(i)), wanted = outputs_->value(i, got);
    const Difference difference = compare_values(got, wanted, outputs_->tolerance(wanted));
    if (!difference.equal) return wrong(judge_, what, difference);
    verdict.add([&](Measurement& record) {
      weigh_output(record, what, one_, stand_in_.empty() ? kReference : stand_in_, i, wanted);
    });
  }
  return verdict.verdict();
}

Verdict OperatorJudge::gradients(const OperatorRunner& runner, const std::string& framework,
                                 const std::vector<Tensor>& directions) {
  if (draws_random_numbers(one_.node)) {
    return {Verdict::Is::unknown, "", "it draws random numbers"};
  }
  const auto expect = [&] {
    judge_ =
        exactly_if_it_can([&](bool exact) { gradients_ = computed_gradients(directions, exact); });
  };
  if (!gradients_ && is_in_time(runner.gradient_cost().value_or(runner.cost()), expect)) {
    expect();
  } else if (!gradients_) {
    gradients_ = Gradients{.values = gradients_of(runner), .cost = runner.cost()};
    judge_ = stand_in_ = framework;
  }
  if (framework == stand_in_) return judges_others();
  WeighedVerdict verdict(judge_);
  for (std::size_t i = 0; i < one_.inputs.size() && i < gradients_->values.size(); ++i) {
    const Tensor& gradient = runner.grad_input(i);
    const Tensor& exact = gradients_->values[i];
    if (!gradient.defined() || !exact.defined()) continue;
    const std::string what = fmt::format("gradient of input {}", i);
    const Tensor got = gradient.on_host(), wanted = converted(exact, got.dtype());
    const Difference difference = compare_values(
        got, wanted,
        rounding_tolerance(summing_cost(gradients_->cost, one_), got.elements(), got.dtype()));
    if (!difference.equal) return wrong(judge_, what, difference);
    verdict.add(
        [&](Measurement& record) { weigh_evidence(record, what, wanted, Expectation::computed); });
  }
  return verdict.verdict();
}

OperatorJudge::Gradients OperatorJudge::computed_gradients(const std::vector<Tensor>& directions,
                                                           bool exact) {
  const auto& registry = framework(kReference).part<OperatorRegistry>();
  OperatorRunner reference(registry, one_.node,
                           exact ? float64_inputs(registry, one_) : one_.inputs, Mode::training);
  reference.forward();
  std::vector<Tensor> own;
  for (const Tensor& direction : directions) {
    const Tensor host = direction.defined() ? direction.on_host() : Tensor();
    own.push_back(exact && host.defined() ? to_float64(host) : host);
  }
  reference.backward(own);
  return {.values = gradients_of(reference), .cost = reference.cost()};
}

std::vector<Tensor> OperatorJudge::gradients_of(const OperatorRunner& runner) const {
  std::vector<Tensor> gradients;
  for (std::size_t i = 0; i < one_.inputs.size(); ++i) {
    const Tensor& gradient = runner.grad_input(i);
    gradients.push_back(gradient.defined() ? gradient.on_host().copy({}) : Tensor());
  }
  return gradients;
}

}  // namespace d5::detail
