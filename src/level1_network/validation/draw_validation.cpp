// SPDX-License-Identifier: Apache-2.0
#include "level1_network/validation/draw_validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "d5/level1_network/graph/execution_interrupt.hpp"
#include "d5/onnx/visitor.hpp"
#include "level0_ops/validation/draw_judge.hpp"
#include "level1_network/graph/network_parts.hpp"
#include "level1_network/nodes/random_nodes.hpp"
#include "level1_network/validation/value_check.hpp"

namespace d5 {
namespace {

constexpr std::size_t kDraws = 20'000, kMostDrawRuns = 2'000;

/// The network's random nodes; none if a node in a nested graph draws.
std::vector<onnx::Node> drawing_nodes(const onnx::Graph& graph) {
  std::vector<onnx::Node> result;
  for (const auto& node : graph.nodes) {
    for (const auto& [name, nested] : onnx::subgraphs(node)) {
      if (draws_random_numbers(*nested)) return {};
    }
    if (draws_random_numbers(node)) result.push_back(node);
  }
  return result;
}

/// A network with random nodes, and their inputs and outputs in a run.
class DrawingNetwork {
 public:
  DrawingNetwork(const Network& network, const ValueMap& inputs)
      : network_(network), inputs_(inputs), nodes_(drawing_nodes(network.graph())) {}

  [[nodiscard]] const std::vector<onnx::Node>& nodes() const { return nodes_; }
  [[nodiscard]] bool is_seeded() const {
    return std::ranges::any_of(
        nodes_, [](const onnx::Node& node) { return node.attributes.contains("seed"); });
  }

  /// The same network, with the inputs and outputs of its random nodes among its outputs, and
  /// `seed` as the seed of the nodes that have one.
  [[nodiscard]] Network observed(std::uint64_t seed) const {
    onnx::Model model = network_.model();
    for (onnx::Node& node : model.graph.nodes) {
      const auto place = node.attributes.find("seed");
      if (place == node.attributes.end() || !draws_random_numbers(node)) continue;
      if (std::holds_alternative<float>(place->second)) {
        place->second = static_cast<float>(seed);
      } else {
        place->second = static_cast<std::int64_t>(seed);
      }
    }
    std::set<std::string> observed;
    for (const onnx::Node& node : nodes_) {
      observed.insert(node.outputs.begin(), node.outputs.end());
      observed.insert(node.inputs.begin(), node.inputs.end());
    }
    for (const auto& output : model.graph.outputs) observed.erase(output.name);
    Network result(std::move(model));
    for (const auto& name : observed) {
      if (!name.empty() && !known(name)) result.add_output(name);
    }
    return result;
  }

  [[nodiscard]] std::vector<Value> values(const std::vector<std::string>& names,
                                          const ValueMap& outputs) const {
    std::vector<Value> result;
    for (const auto& name : names) {
      if (name.empty()) {
        result.emplace_back();
      } else {
        const auto before = known(name);
        result.push_back(before ? *before : outputs.at(name));
      }
    }
    return result;
  }

  /// Compares the outputs computed from drawn values with the reference's of the same values.
  [[nodiscard]] std::vector<Measurement> check_rest(const Measurement& base,
                                                    const ValueMap& outputs,
                                                    ForwardTolerance tolerance) const {
    onnx::Model rest = network_.model();
    ValueMap fed = inputs_;
    std::erase_if(rest.graph.nodes,
                  [](const onnx::Node& node) { return draws_random_numbers(node); });
    for (const onnx::Node& node : nodes_) {
      for (const auto& name : node.outputs) {
        if (name.empty()) continue;
        fed[name] = outputs.at(name);
        rest.graph.inputs.push_back({name, type_of(outputs.at(name).tensor())});
      }
    }
    std::erase_if(rest.graph.outputs,
                  [&](const auto& output) { return fed.contains(output.name); });
    if (rest.graph.outputs.empty()) return {};
    const auto reference = make_executor(Network(std::move(rest)));
    std::vector<Measurement> records;
    for (const auto& [name, expected] : reference->inference(fed)) {
      auto& record =
          records.emplace_back(check_value(base, fmt::format("output {} of these draws", name),
                                           outputs.at(name), expected, tolerance));
      record.conditions["tolerance"] = setting(to_string(tolerance));
    }
    return records;
  }

 private:
  /// The value of an input or a constant, known before the run.
  [[nodiscard]] std::optional<Value> known(const std::string& name) const {
    if (const auto input = inputs_.find(name); input != inputs_.end()) return input->second;
    const auto& constants = network_.graph().initializers;
    const auto constant = constants.find(name);
    return constant == constants.end() ? std::nullopt : std::optional<Value>(constant->second);
  }

  const Network& network_;
  const ValueMap& inputs_;
  std::vector<onnx::Node> nodes_;
};

}  // namespace

std::vector<Measurement> test_draws(const Measurement& base, const Network& network,
                                    const ValueMap& inputs, const OpenExecutor& open,
                                    ForwardTolerance tolerance, const Interrupt& interrupt) {
  const DrawingNetwork drawing(network, inputs);
  std::vector<detail::DrawJudge> judges(drawing.nodes().begin(), drawing.nodes().end());
  if (judges.empty()) return {};

  std::shared_ptr<GraphExecutor> executor;
  std::vector<Measurement> of_rest;
  std::size_t runs = 1;
  for (std::size_t run = 0; run < runs; ++run) {
    if (!executor || drawing.is_seeded()) executor = open(drawing.observed(run), run);
    const InterruptibleRuns within(*executor, interrupt);
    const ValueMap& outputs = executor->inference(inputs);
    for (auto& judge : judges) {
      judge.add(drawing.values(judge.node().inputs, outputs),
                drawing.values(judge.node().outputs, outputs));
    }
    if (run > 0) continue;
    of_rest = drawing.check_rest(base, outputs, tolerance);
    const auto largest = std::ranges::max_element(judges, {}, &detail::DrawJudge::count);
    runs = std::clamp(kDraws / std::max(largest->count(), std::size_t{1}), std::size_t{2},
                      kMostDrawRuns);
  }

  std::vector<Measurement> records;
  for (const auto& judge : judges) {
    auto& record = records.emplace_back(judge.record(base));
    record.conditions["tensor"] = identity("draws of " + onnx::describe(judge.node()));
  }
  records.insert(records.end(), of_rest.begin(), of_rest.end());
  return records;
}

}  // namespace d5
