// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/graph/partition.hpp"
#include "level3_distributed/graph/tensor_pairs.hpp"
#include "level3_distributed/graph/tensor_slices.hpp"

namespace d5::partition {
namespace {

struct TensorParallelOptions {
  std::string group = "tensor";
  void declare(OptionList& options) {
    options.add("group", group, "communication group of the ranks that share a model");
  }
};

/// A rank has columns of the first and rows of the second layer of each pair of linear layers, and
/// whole heads of an attention. Each pair has one all-reduce forward, after the second layer, and
/// one backward, before the first. Everything else is replicated on every rank.
///
/// Source: Shoeybi et al., "Megatron-LM: Training Multi-Billion Parameter Language Models Using
/// Model Parallelism" (2019), section 3.
class TensorParallel final : public Partition {
 public:
  using Options = TensorParallelOptions;
  explicit TensorParallel(const Options& options) : options_(options) {}

  [[nodiscard]] std::vector<NetworkPart> cut(const Network& network, int parts) const override {
    if (parts < 1)
      throw ValueError(fmt::format("tensor_parallel: {} parts, expected 1 or more", parts));
    const auto pairs = detail::tensor_pairs(network);
    if (pairs.empty()) {
      throw Unsupported(fmt::format(
          "tensor_parallel: network '{}' has no two linear layers (Gemm or MatMul with a parameter "
          "of its own) with nothing but functions of single elements between; cut it by pipeline",
          printable(network.name())));
    }
    for (const auto& pair : pairs) expect_divisible(network, pair, parts);
    std::vector<NetworkPart> result;
    for (int part = 0; part < parts; ++part) {
      result.push_back({part_of_network(network, pairs, part, parts), {}, {}});
    }
    return result;
  }

 private:
  static void expect_divisible(const Network& network, const detail::TensorPair& pair, int parts) {
    if (pair.units % parts == 0) return;
    const auto& cut = pair.cuts.front();
    throw ShapeError(fmt::format(
        "tensor_parallel: parameter '{}' is {}, whose dimension {} of {} {} cannot be cut into {} "
        "equal parts; take a number of parts that divides it",
        printable(cut.name), to_string(network.fetch(cut.name).desc()), cut.axis, pair.units,
        pair.shapes.empty() && !pair.attention ? "units" : "heads", parts));
  }

  [[nodiscard]] onnx::Node on_group(const std::string& op_type, const std::string& input,
                                    const std::string& output) const {
    onnx::Node node;
    node.op_type = op_type;
    node.domain = "d5";
    node.opset = 1;
    node.name = output;
    node.inputs = {input};
    node.outputs = {output};
    node.attributes["group"] = options_.group;
    return node;
  }

  [[nodiscard]] Network part_of_network(const Network& network,
                                        const std::vector<detail::TensorPair>& pairs, int part,
                                        int parts) const {
    Network result(fmt::format("{}.part{}", network.name(), part));
    onnx::Model model = network.model();
    onnx::Graph& graph = model.graph;
    graph.name = result.name();
    graph.values.clear();  // they have the whole network's shapes
    std::vector<onnx::Node> nodes;
    std::map<std::string, std::string> shared;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      onnx::Node node = graph.nodes[i];
      for (const auto& pair : pairs) {
        if (std::ranges::find(pair.columns, i) != pair.columns.end()) {
          node.inputs[0] = shared_input(network, pair.rows, node.inputs[0], nodes, shared);
        }
        if (pair.attention == i) divide_heads(node, parts);
        for (const auto& shape : pair.shapes) {
          if (shape.node == i)
            node.inputs[1] = shape_of_part(network, node, shape.dim, parts, graph);
        }
      }
      if (std::ranges::find(pairs, i, &detail::TensorPair::rows) != pairs.end()) {
        add_summed(network, std::move(node), nodes);
      } else {
        nodes.push_back(std::move(node));
      }
    }
    graph.nodes = std::move(nodes);
    for (auto& [name, value] : graph.initializers) value = value.copy();
    for (const auto& pair : pairs) {
      for (const auto& cut : pair.cuts) {
        Tensor& value = graph.initializers.at(cut.name);
        value = detail::part_of(value, cut.axis, part, parts);
      }
    }
    for (const auto& [name, value] : graph.initializers) {
      if (network.is_parameter(name)) result.add_parameter(name, value);
    }
    result.rewrite(std::move(model));
    for (const auto& [constant, output] : network.updates()) result.add_update(constant, output);
    return result;
  }

  /// The input of a pair's column layers; layers with the same input share one sum backward.
  [[nodiscard]] std::string shared_input(const Network& network, std::size_t pair,
                                         const std::string& input, std::vector<onnx::Node>& nodes,
                                         std::map<std::string, std::string>& shared) const {
    std::string& name = shared[fmt::format("{} {}", pair, input)];
    if (name.empty()) {
      name = network.unused_name(fmt::format("{}.to{}", input, pair));
      nodes.push_back(on_group("SumGradient", input, name));
    }
    return name;
  }

  static void divide_heads(onnx::Node& attention, int parts) {
    for (const char* name : {"q_num_heads", "kv_num_heads"}) {
      attention.attributes[name] = *attention.attribute<std::int64_t>(name) / parts;
    }
  }

  /// The name of a new constant, because other nodes may read the original.
  [[nodiscard]] static std::string shape_of_part(const Network& network, const onnx::Node& reshape,
                                                 std::size_t dim, int parts, onnx::Graph& graph) {
    Tensor shape = network.fetch(reshape.inputs[1]).copy();
    shape.span<std::int64_t>()[dim] /= parts;
    const std::string name = network.unused_name(reshape.outputs[0] + ".shape_of_part");
    graph.initializers[name] = shape;
    return name;
  }

  /// Adds the bias once, after the sum.
  void add_summed(const Network& network, onnx::Node node, std::vector<onnx::Node>& nodes) const {
    const std::string output = node.outputs[0];
    const std::string bias = node.inputs.size() > 2 ? node.inputs[2] : "";
    const std::string partial = network.unused_name(output + ".partial");
    const std::string sum = bias.empty() ? output : network.unused_name(output + ".sum");
    node.inputs.resize(2);
    node.outputs[0] = partial;
    const auto opset = node.opset;
    nodes.push_back(std::move(node));
    nodes.push_back(on_group("SumValue", partial, sum));
    if (bias.empty()) return;
    onnx::Node add;
    add.op_type = "Add";
    add.opset = opset;
    add.name = network.unused_name(output + ".add");
    add.inputs = {sum, bias};
    add.outputs = {output};
    nodes.push_back(std::move(add));
  }

  Options options_;
};

}  // namespace

void register_tensor_parallel(Registry<PartitionEntry>& registry) {
  registry.add("tensor_parallel", PartitionEntry::of<TensorParallel>(
                                      "tensor parallelism: columns, then rows of linear layers "
                                      "(Megatron-LM, Shoeybi et al., 2019)"));
}

}  // namespace d5::partition
