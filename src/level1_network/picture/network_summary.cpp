// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/picture/network_summary.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/file.hpp"
#include "level1_network/graph/held_weights.hpp"
#include "level1_network/nodes/node_names.hpp"
#include "level1_network/plan/resolve.hpp"
#include "level1_network/source/fitting_sizes.hpp"

namespace d5 {
namespace {

using Part = NetworkSummary::Part;

CompileRequest request_for(const Network& network, const OpenSizes& sizes) {
  CompileRequest request{.graph = std::make_shared<const onnx::Graph>(network.graph()),
                         .updates = network.updates()};
  const auto descs = input_descs(network, fitting_sizes(network, sizes));
  for (const auto& [name, desc] : descs) request.fed.emplace_back(name, desc);
  for (const auto& [name, value] : network.graph().initializers) {
    if (network.is_parameter(name)) request.variables.insert(name);
  }
  return request;
}

void add(const Part& part, Part& sum) {
  sum.outputs = part.outputs;
  sum.parameters += part.parameters;
  sum.parameter_bytes += part.parameter_bytes;
  sum.cost.flop += part.cost.flop;
  sum.cost.bytes_read += part.cost.bytes_read;
  sum.cost.bytes_written += part.cost.bytes_written;
  if (sum.incomplete == 0) sum.reason = part.reason;
  sum.incomplete += part.incomplete;
}

void add_parameter(const Tensor& value, Part& part) {
  part.parameters += value.elements();
  part.parameter_bytes += double(value.bytes());
}

/// One pass over the nodes.
class Summing {
 public:
  Summing(const Network& network, const OpenSizes& sizes)
      : network_(network), request_(request_for(network, sizes)), draft_(request_, state_) {
    state_.frameworks = framework_choice({"reference"});
    define_sources(draft_);
  }

  NetworkSummary take() {
    for (const auto& node : request_.graph->nodes) {
      Part part = resolved(node);
      count_parameters(node, part);
      result_.nodes.push_back(std::move(part));
    }
    for (const auto& part : result_.nodes) add(part, result_.total);
    result_.total.name = network_.name();
    result_.total.nodes = result_.nodes.size();
    result_.total.outputs = network_.output_names();
    for (const auto& [name, value] : network_.graph().initializers) {
      if (network_.is_parameter(name) && !counted_.contains(name)) {
        add_parameter(value, result_.total);
      }
    }
    tell_tensors();
    return std::move(result_);
  }

 private:
  Part resolved(const onnx::Node& node) {
    Part part{.name = node.name.empty() ? first_output(node) : node.name,
              .op_type = (node.domain.empty() ? "" : node.domain + ".") + node.op_type,
              .outputs = node.outputs};
    const auto leave_out = [&](std::string reason) {
      if (std::exchange(part.incomplete, 1) == 0) part.reason = std::move(reason);
    };
    try {
      const std::size_t before = draft_.steps.size();
      resolve_node(draft_, node);
      // No step: computed once, before any run. Several: the branch that an If takes.
      for (std::size_t i = before; i < draft_.steps.size(); ++i) {
        const Draft::Step& step = draft_.steps[i];
        if (step.dynamic) {
          leave_out("its shapes are known only at run time");
          continue;
        }
        const Cost cost = step.op->cost(InferContext(*step.node, step.input_descs, step.constants));
        part.cost.flop += cost.flop;
        part.cost.bytes_read += cost.bytes_read;
        part.cost.bytes_written += cost.bytes_written;
        if (!step.graphs.empty()) leave_out("how often its graphs run is known only at run time");
      }
    } catch (const Unsupported& error) {
      leave_out(error.what());
      for (const auto& output : node.outputs) {
        if (!output.empty() && !draft_.find(output)) {
          draft_.define(output).origin = Draft::Origin::dynamic;
        }
      }
    }
    return part;
  }

  void count_parameters(const onnx::Node& node, Part& part) {
    for (const auto& name : read_names(node)) {
      if (!network_.is_parameter(name) || !counted_.insert(name).second) continue;
      add_parameter(network_.fetch(name), part);
    }
    for (const Tensor& weights : held_weights(node)) add_parameter(weights, part);
  }

  void tell_tensors() {
    for (const auto& [name, slot] : draft_.by_name) {
      if (slot->origin == Draft::Origin::constant && network_.graph().initializers.contains(name)) {
        continue;
      }
      result_.tensors[name].desc = slot->desc;
    }
    for (auto& [name, type] : onnx::types_of(network_.model())) {
      if (const auto place = result_.tensors.find(name); place != result_.tensors.end()) {
        place->second.type = std::move(type);
      }
    }
  }

  const Network& network_;
  const CompileRequest request_;
  RunState state_;
  Draft draft_;
  std::set<std::string> counted_;
  NetworkSummary result_;
};

}  // namespace

std::string part_name(const Part& node, SummaryBy by) {
  switch (by) {
    case SummaryBy::node:
      return node.name;
    case SummaryBy::layer:
      return layer_of(node.name);
    case SummaryBy::operator_type:
      return node.op_type;
  }
  return {};
}

NetworkSummary summarise(const Network& network, const OpenSizes& sizes) {
  return Summing(network, sizes).take();
}

std::vector<Part> parts_of(const NetworkSummary& summary, SummaryBy by) {
  if (by == SummaryBy::node) return summary.nodes;
  std::vector<Part> parts;
  std::map<std::string, std::size_t> places;
  for (const Part& node : summary.nodes) {
    const std::string name = part_name(node, by);
    const auto [place, fresh] = places.try_emplace(name, parts.size());
    if (fresh) parts.push_back({.name = name, .nodes = 0});
    Part& part = parts[place->second];
    ++part.nodes;
    add(node, part);
  }
  return parts;
}

}  // namespace d5
