// SPDX-License-Identifier: Apache-2.0
#include "level1_network/validation/moved_outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>

#include "core/tensor/float64.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/interrupts/interrupt.hpp"
#include "level0_ops/validation/evidence.hpp"
#include "level0_ops/validation/varied.hpp"
#include "level1_network/graph/parameter_layout.hpp"
#include "level1_network/nodes/node_names.hpp"
#include "level1_network/nodes/random_nodes.hpp"

namespace d5 {
namespace {

using detail::Variation;

constexpr std::string_view kOutput = "output ";

bool has_elements(const Value& value) {
  return value.is_tensor() && value.tensor().defined() && value.tensor().elements() > 0 &&
         value.tensor().dtype() != DType::string &&
         value.tensor().bytes() >= std::size_t(value.tensor().elements());
}

bool holds_floats(const Value& value) { return may_be_trained(value.tensor().dtype()); }

bool equal_bits(const Tensor& a, const Tensor& b) {
  return a.desc() == b.desc() && std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

bool holds_no_numbers(const Answer& answer) {
  return !detail::evidence_in(answer.value).lack(detail::Expectation::computed).empty();
}

/// Names that depend on the values of fed inputs, not only on their shapes.
std::set<std::string> reached_by(const ValueMap& inputs, const onnx::Graph& graph) {
  std::set<std::string> reached;
  for (const auto& [name, value] : inputs) reached.insert(name);
  for (const onnx::Node& node : graph.nodes) {
    const bool of_shape = node.op_type == "Shape" || node.op_type == "Size";
    if (of_shape && node.domain.empty()) continue;
    const auto read = read_names(node);
    if (std::ranges::none_of(read, [&](const auto& name) { return reached.contains(name); })) {
      continue;
    }
    reached.insert(node.outputs.begin(), node.outputs.end());
  }
  return reached;
}

/// Other inputs; empty if they would be the same.
std::optional<ValueMap> others(const ValueMap& inputs, Variation variation,
                               const std::string& alone = "") {
  ValueMap result = inputs;
  bool differ = false;
  std::uint64_t seed = 0;
  for (auto& [name, value] : result) {
    ++seed;
    if (!has_elements(value) || (!alone.empty() && name != alone)) continue;
    const Tensor before = value.tensor().on_host();
    Tensor after = detail::varied(before, variation, seed);
    differ = differ || !equal_bits(before, after);
    value = std::move(after);
  }
  return differ ? std::optional(std::move(result)) : std::nullopt;
}

/// Marks the elements of one output that changed in any of the runs.
class Movement {
 public:
  explicit Movement(const Value& usual)
      : usual_(usual.tensor().on_host()), moved_(std::size_t(usual_.elements()), false) {
    if (holds_floats(usual)) numbers_ = detail::to_float64(usual_);
  }

  /// `is_scaled`: real inputs were scaled.
  void look_at(const Value& value, bool is_scaled) {
    if (!value.is_tensor() || !value.tensor().defined()) return;
    const Tensor other = value.tensor().on_host();
    bool moves = true;
    if (other.desc() != usual_.desc()) {
      moved_.assign(moved_.size(), true);
    } else if (numbers_.defined()) {
      moves = look_at_numbers(detail::to_float64(other));
    } else {
      moves = look_at_bytes(other);
    }
    if (looked_ && is_scaled) stays_scaled_ = !moves;
  }

  [[nodiscard]] bool is_settled() const { return 2 * moved() >= elements() && !stays_scaled_; }

  /// Empty if the output moves.
  [[nodiscard]] std::string words() const {
    if (!looked_) return "";
    const std::string constant = detail::constant_in(usual_);
    if (!constant.empty() && (stays_scaled_ || moved() == 0)) {
      return fmt::format(
          "the reference's answers are {} in {} of {} elements, for other inputs, too: give inputs",
          constant, elements(), elements());
    }
    const std::int64_t stay = elements() - moved();
    const std::int64_t odd = moved() == 0 ? stay : stay - most_frequent_of_those_that_stay();
    if (odd <= moved()) return "";
    return fmt::format(
        "the reference's answers are the same for other inputs in {} of {} elements: give "
        "inputs",
        stay, elements());
  }

 private:
  [[nodiscard]] std::int64_t elements() const { return usual_.elements(); }
  [[nodiscard]] std::int64_t moved() const { return std::ranges::count(moved_, true); }

  /// A change from or to NaN or infinity does not count.
  bool look_at_numbers(const Tensor& others) {
    const std::span<const double> a = numbers_.span<double>(), b = others.span<double>();
    bool moves = false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!std::isfinite(b[i])) continue;
      looked_ = true;
      if (a[i] == b[i]) continue;
      moved_[i] = true;
      moves = true;
    }
    return moves;
  }
  bool look_at_bytes(const Tensor& other) {
    looked_ = true;
    const std::size_t size = usual_.bytes() / moved_.size();
    const auto *a = static_cast<const std::byte*>(usual_.raw()),
               *b = static_cast<const std::byte*>(other.raw());
    bool moves = false;
    for (std::size_t i = 0; i < moved_.size(); ++i) {
      if (std::memcmp(a + i * size, b + i * size, size) == 0) continue;
      moved_[i] = true;
      moves = true;
    }
    return moves;
  }
  [[nodiscard]] std::int64_t most_frequent_of_those_that_stay() const {
    if (!numbers_.defined()) return elements();  // whole numbers are few
    std::vector<double> stay;
    for (std::size_t i = 0; i < moved_.size(); ++i) {
      if (!moved_[i]) stay.push_back(numbers_.span<double>()[i]);
    }
    std::ranges::sort(stay);
    std::int64_t most = 0;
    for (auto place = stay.begin(); place != stay.end();) {
      const auto end = std::ranges::upper_bound(place, stay.end(), *place);
      most = std::max<std::int64_t>(most, end - place);
      place = end == place ? place + 1 : end;  // NaN
    }
    return most;
  }

  Tensor usual_, numbers_ = {};
  std::vector<bool> moved_;
  bool looked_ = false, stays_scaled_ = false;
};

/// Runs the network on other inputs while `go_on` returns true. Values that the network cannot take
/// are left out.
template <class Look, class GoOn>
void run_on_others(GraphExecutor& reference, const ValueMap& inputs, Look&& look, GoOn&& go_on) {
  constexpr int kMostAlone = 6;
  const auto run = [&](const std::optional<ValueMap>& fed, Variation variation) {
    if (!fed || !go_on()) return;
    try {
      const ValueMap& outputs = reference.inference(*fed);
      reference.synchronise();
      look(outputs, variation);
    } catch (const Interrupted&) {
      throw;
    } catch (const Error&) {
    }
  };
  run(others(inputs, Variation::scaled), Variation::scaled);
  run(others(inputs, Variation::turned), Variation::turned);
  int alone = 0;
  for (const auto& [name, value] : inputs) {
    if (!has_elements(value) || alone == kMostAlone || inputs.size() == 1) continue;
    ++alone;
    run(others(inputs, Variation::turned, name), Variation::turned);
  }
}

}  // namespace

std::map<std::string, UnmovedOutput> unmoved_outputs(GraphExecutor& reference,
                                                     const ValueMap& inputs,
                                                     const std::vector<Answer>& answers) {
  std::map<std::string, UnmovedOutput> result;
  const onnx::Graph& graph = reference.network().graph();
  if (inputs.empty() || draws_random_numbers(graph)) return result;
  const auto reached = reached_by(inputs, graph);
  std::map<std::string, Movement> movements;
  for (const auto& [tensor, value] : answers) {
    if (!tensor.starts_with(kOutput) || !has_elements(value)) continue;
    if (holds_no_numbers({tensor, value})) continue;
    const std::string name = tensor.substr(kOutput.size());
    if (reached.contains(name)) {
      movements.emplace(name, Movement(value));
    } else if (holds_floats(value)) {
      result[tensor] = {
          "the reference's answers follow from no input's values: by_node compares the "
          "nodes that make them",
          true};
    }
  }
  const bool any_reals = std::ranges::any_of(inputs, [](const auto& input) {
    return has_elements(input.second) && holds_floats(input.second);
  });
  const ValueMap state = reference.state();
  run_on_others(
      reference, inputs,
      [&](const ValueMap& outputs, Variation variation) {
        const bool is_scaled = any_reals && variation == Variation::scaled;
        for (auto& [name, movement] : movements) movement.look_at(outputs.at(name), is_scaled);
      },
      [&] {
        return std::ranges::any_of(movements,
                                   [](const auto& one) { return !one.second.is_settled(); });
      });
  reference.restore(state);
  for (const auto& [name, movement] : movements) {
    const std::string words = movement.words();
    if (!words.empty()) result[std::string(kOutput) + name] = {words};
  }
  return result;
}

std::size_t outputs_that_say_nothing(GraphExecutor& executor, const ValueMap& inputs) {
  const ValueMap state = executor.state();
  const auto answers = answers_of(executor, inputs, {});
  executor.restore(state);
  auto count = std::ranges::count_if(answers, holds_no_numbers);
  for (const auto& [tensor, output] : unmoved_outputs(executor, inputs, answers)) {
    count += output.leads_to_none ? 0 : 1;
  }
  return std::size_t(count);
}

std::size_t outputs_that_seem_silent(GraphExecutor& executor, const ValueMap& inputs) {
  const ValueMap state = executor.state();
  const auto answers = answers_of(executor, inputs, {});
  executor.restore(state);
  return std::size_t(std::ranges::count_if(answers, [](const Answer& answer) {
    return holds_no_numbers(answer) || !detail::constant_in(answer.value).empty();
  }));
}

}  // namespace d5
