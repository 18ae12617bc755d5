// SPDX-License-Identifier: Apache-2.0
#include "level1_network/validation/rounding_judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ranges>
#include <utility>

#include "core/tensor/float64.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/execution_interrupt.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/onnx/visitor.hpp"
#include "level1_network/graph/parameter_layout.hpp"
#include "level1_network/nodes/random_nodes.hpp"
#include "level1_network/validation/float64_network.hpp"
#include "level1_network/validation/moved_outputs.hpp"
#include "level1_network/validation/nudge.hpp"
#include "level1_network/validation/other_sums.hpp"
#include "level1_network/validation/value_check.hpp"

namespace d5 {
namespace {

constexpr double kMultiple = 8, kUlps = 8;
constexpr double kCancelled = 64;  // the root of 4096 terms
constexpr std::uint32_t kFewRuns = 3, kMostRuns = 19;

bool may_round(const Value& value) {
  return value.is_tensor() && may_be_trained(value.tensor().dtype());
}

/// The largest distance over the elements that are finite in both.
double largest_distance(const Tensor& got, const Tensor& exact) {
  double largest = 0;
  const auto a = got.span<double>(), b = exact.span<double>();
  for (std::size_t i = 0; i < b.size(); ++i) {
    const double distance = std::fabs(a[i] - b[i]);
    if (std::isfinite(distance)) largest = std::max(largest, distance);
  }
  return largest;
}

double largest_magnitude(const Tensor& tensor) {
  return largest_distance(tensor, Tensor::zeros(tensor.desc()));
}

/// Overflow in the network's own type is correct there.
Tensor where_finite(const Tensor& exact, const Tensor& own) {
  Tensor result = exact.copy();
  std::ranges::transform(
      exact.span<double>(), own.span<double>(), result.data<double>(),
      [](double e, double o) { return std::isfinite(e) && std::isfinite(o) ? e : o; });
  return result;
}

using Scopes = std::vector<const onnx::Graph*>;

/// The node that writes `name` in the innermost graph that has it; scopes within that are left.
const onnx::Node* writer_of(std::string_view name, Scopes& scopes) {
  for (; !scopes.empty(); scopes.pop_back()) {
    for (const onnx::Node& node : scopes.back()->nodes) {
      if (std::ranges::find(node.outputs, name) != node.outputs.end()) return &node;
    }
  }
  return nullptr;
}

/// Range of the function behind tensor `name`; 0 if it is unbounded. Nodes that move values or take
/// means keep the range, as do the branches of an If.
double range_of(std::string_view name, Scopes scopes) {
  constexpr std::array<std::string_view, 4> kWithinOne = {"Sigmoid", "Softmax", "Softsign", "Tanh"};
  constexpr std::array<std::string_view, 9> kKeep = {"Flatten",    "Identity",  "ReduceMax",
                                                     "ReduceMean", "Reshape",   "Slice",
                                                     "Squeeze",    "Transpose", "Unsqueeze"};
  const auto is_one_of = [](const auto& operators, const onnx::Node& node) {
    return std::ranges::find(operators, node.op_type) != operators.end();
  };
  const onnx::Node* writer = writer_of(name, scopes);
  if (!writer || !writer->domain.empty()) return 0;
  if (is_one_of(kWithinOne, *writer)) return 1;
  if (is_one_of(kKeep, *writer)) return range_of(writer->inputs.front(), scopes);
  if (writer->op_type != "If") return 0;
  const auto place = std::ranges::find(writer->outputs, name) - writer->outputs.begin();
  double largest = 0;
  for (const auto& [branch, held] : onnx::subgraphs(*writer)) {
    Scopes within = scopes;
    within.push_back(held.get());
    largest = std::max(largest, range_of(held->outputs[std::size_t(place)].name, within));
  }
  return largest;
}

/// Range of "output y"; gradients have none.
double range_of_answer(const Network& network, std::string_view answer) {
  constexpr std::string_view kOutput = "output ";
  return answer.starts_with(kOutput) ? range_of(answer.substr(kOutput.size()), {&network.graph()})
                                     : 0;
}

}  // namespace

double unseen_tail(std::vector<double> distances) {
  constexpr double kExcesses = 11.5;
  if (distances.size() < 2) return 0;
  std::ranges::sort(distances);
  const double median = distances[distances.size() / 2];
  double excess = 0;
  int above = 0;
  for (const double distance : distances) {
    if (!(distance > median)) continue;
    excess += distance - median;
    ++above;
  }
  return above == 0 ? 0 : kExcesses * excess / above;
}

RoundingJudge::RoundingJudge(GraphExecutor& reference, ValueMap inputs, BackwardBegin begin,
                             const Interrupt& interrupt)
    : RoundingJudge([&reference]() -> GraphExecutor& { return reference; }, std::move(inputs),
                    std::move(begin), interrupt) {}

RoundingJudge::RoundingJudge(std::function<GraphExecutor&()> open, ValueMap inputs,
                             BackwardBegin begin, const Interrupt& interrupt)
    : open_(std::move(open)), inputs_(std::move(inputs)), begin_(std::move(begin)) {
  for (auto& [tensor, value] : answers_of(fresh_reference(), inputs_, begin_)) {
    found_.expected.push_back({.tensor = std::move(tensor), .own = std::move(value)});
  }
  for (Expected& expected : found_.expected) {
    if (!may_round(expected.own)) continue;
    expected.exact = detail::to_float64(expected.own.tensor());
    expected.distances = {0};
  }
  run_in_float64(interrupt);
  for (Expected& expected : found_.expected) {
    if (!expected.exact.defined()) continue;
    expected.scale = largest_magnitude(expected.exact);
    expected.range = range_of_answer(open_().network(), expected.tensor);
  }
  while (found_.runs < kFewRuns) run_nudged();
}

RoundingJudge::RoundingJudge(std::function<GraphExecutor&()> open, ValueMap inputs,
                             BackwardBegin begin, RoundedAnswers found)
    : open_(std::move(open)),
      inputs_(std::move(inputs)),
      begin_(std::move(begin)),
      found_(std::move(found)) {}

GraphExecutor& RoundingJudge::fresh_reference() {
  GraphExecutor& reference = open_();
  if (!state_) state_ = reference.state();
  reference.restore(*state_);
  return reference;
}

void RoundingJudge::run_in_float64(const Interrupt& interrupt) {
  GraphExecutor& reference = open_();
  const Network& network = reference.network();
  if (draws_random_numbers(network.graph())) {
    found_.no_float64 = "the network draws random numbers, which differ in float64";
    return;
  }
  std::vector<Answer> answers;
  try {
    // "auto" would measure and judge again.
    auto frameworks = frameworks_of(reference);
    if (frameworks == std::vector<std::string>{"auto"}) frameworks = {"reference"};
    const auto executor = make_executor(in_float64(network), {.frameworks = frameworks});
    executor->set_mode(reference.mode());
    const InterruptibleRuns within(*executor, interrupt);
    BackwardBegin begin = begin_;
    begin.output_gradients = in_float64(begin.output_gradients);
    answers = answers_of(*executor, in_float64(inputs_), begin);
  } catch (const Interrupted&) {
    throw;
  } catch (const Error& error) {
    found_.no_float64 = error.what();
    return;
  }
  for (Expected& expected : found_.expected) {
    const Value* exact = find(answers, expected.tensor);
    // A parameter that has no gradient in float64 has none at all.
    if (!expected.exact.defined() || !exact || !may_round(*exact)) continue;
    if (exact->tensor().desc() != expected.exact.desc()) continue;
    const Tensor own = std::move(expected.exact);
    expected.exact = where_finite(exact->tensor(), own);
    expected.distances = {largest_distance(own, expected.exact)};
  }
}

void RoundingJudge::run_nudged() {
  GraphExecutor& reference = fresh_reference();
  RandomStream random(0, stream_of("rounding"), found_.runs++);
  std::vector<Answer> answers;
  {
    const NudgedParameters parameters(reference.network(), random);
    answers = answers_of(reference, nudged(inputs_, random), begin_);
  }
  take_distances(answers);
}

void RoundingJudge::look_for_unmoved() {
  std::vector<Answer> answers;
  for (const Expected& expected : found_.expected) {
    answers.push_back({expected.tensor, expected.own});
  }
  const auto unmoved = unmoved_outputs(fresh_reference(), inputs_, answers);
  for (Expected& expected : found_.expected) {
    const auto place = unmoved.find(expected.tensor);
    if (place != unmoved.end()) expected.unmoved = place->second.words;
  }
}

void RoundingJudge::open_with_other_sums() {
  const GraphExecutor& reference = open_();
  const Network& network = open_().network();
  auto frameworks = frameworks_of(reference);
  if (frameworks == std::vector<std::string>{"auto"}) frameworks = {"reference"};
  if (draws_random_numbers(network.graph())) return;
  if (auto other = with_other_sums(network, inputs_)) {
    adds_otherwise_ = make_executor(*std::move(other), {.frameworks = frameworks});
    adds_otherwise_->set_mode(reference.mode());
  }
}

void RoundingJudge::run_with_other_sums() {
  std::vector<Answer> answers;
  try {
    if (!std::exchange(looked_for_sums_, true)) open_with_other_sums();
    if (!adds_otherwise_) return run_nudged();
    RandomStream random(0, stream_of("rounding"), found_.runs);
    const NudgedParameters parameters(adds_otherwise_->network(), random);
    answers = answers_of(*adds_otherwise_, nudged(inputs_, random), begin_);
  } catch (const Interrupted&) {
    throw;
  } catch (const Error&) {  // a framework that judges may lack the nodes
    adds_otherwise_.reset();
    return run_nudged();
  }
  ++found_.runs;
  take_distances(answers);
}

void RoundingJudge::take_distances(const std::vector<Answer>& answers) {
  for (Expected& expected : found_.expected) {
    const Value* moved = find(answers, expected.tensor);
    if (!expected.exact.defined() || moved->tensor().shape() != expected.exact.shape()) continue;
    expected.distances.push_back(
        largest_distance(detail::to_float64(moved->tensor()), expected.exact));
  }
}

double RoundingJudge::bound_of(const Expected& expected) const {
  const auto& distances = expected.distances;
  std::vector<double> few(
      distances.begin(),
      distances.begin() + std::min<std::ptrdiff_t>(kFewRuns, std::ssize(distances)));
  std::ranges::sort(few);
  const double ulp =
      ulp_of_one(expected.own.tensor().dtype()) * std::max(expected.scale, expected.range);
  const double bound = kMultiple * few[few.size() / 2] + std::ranges::max(distances) + kUlps * ulp +
                       (found_.runs < kMostRuns ? 0 : unseen_tail(distances));
  return bound < std::max(expected.scale, expected.range) ? bound : kCancelled * bound;
}

Measurement RoundingJudge::check(const Measurement& base, const Expected& expected,
                                 const Value& answer) const {
  if (!expected.exact.defined() || !answer.is_tensor() ||
      answer.tensor().desc() != expected.own.tensor().desc()) {
    return check_value(base, expected.tensor, answer, expected.own, {});
  }
  const double bound = bound_of(expected);
  Measurement record = check_value(base, expected.tensor, detail::to_float64(answer.tensor()),
                                   expected.exact, {.relative = 0, .absolute = bound});
  const double scale = expected.scale > 0 ? expected.scale : 1;
  record.conditions["bound"] = finding(bound / scale);
  record.conditions["tolerance"] =
      finding(fmt::format("{} x median + largest of {} runs{} + {} ulp", kMultiple, found_.runs,
                          found_.runs < kMostRuns ? "" : " and its tail", kUlps));
  if (record.status == Status::failed) {
    record.reason += fmt::format(", where rounding explains {:.3g}", bound);
  }
  if (bound >= std::max(expected.scale, expected.range) && bound > 0) {
    mistrust(record, fmt::format("{}: rounding alone can move it by {:.3g}, and its largest number "
                                 "is {:.3g}: there is nothing to compare",
                                 printable(expected.tensor), bound, expected.scale));
  }
  return record;
}

std::vector<Measurement> RoundingJudge::judge(const Measurement& base,
                                              const std::vector<Answer>& answers) {
  Measurement described = base;
  described.conditions["judge"] =
      finding(found_.no_float64.empty() ? "float64" : "the network's own types");
  if (!found_.no_float64.empty())
    described.conditions["no float64"] = finding(printable(found_.no_float64));

  std::vector<Measurement> records;
  const auto outside = [](const Measurement& m) {
    return m.status == Status::failed && m.conditions.contains("bound");
  };
  for (const Expected& expected : found_.expected) {
    const Value* answer = find(answers, expected.tensor);
    records.push_back(answer ? check(described, expected, *answer)
                             : missing_value(described, expected.tensor));
  }
  while (found_.runs < kMostRuns && std::ranges::any_of(records, outside)) {
    run_with_other_sums();
    for (std::size_t i = 0; i < records.size(); ++i) {
      if (!outside(records[i])) continue;
      const Expected& expected = found_.expected[i];
      records[i] = check(described, expected, *find(answers, expected.tensor));
    }
  }
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Expected& expected = found_.expected[i];
    if (expected.unmoved.empty()) continue;
    detail::mistrust_uncompared(records[i], printable(expected.tensor), expected.unmoved);
  }
  return records;
}

}  // namespace d5
