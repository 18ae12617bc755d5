// SPDX-License-Identifier: Apache-2.0
#include "level1_network/micro_batch/batch_parallel.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "d5/onnx/nodes.hpp"
#include "level1_network/nodes/elementwise_nodes.hpp"

namespace d5 {
namespace {

namespace nodes = onnx::nodes;

/// Node properties that a rule reads.
struct Reading {
  const onnx::Node& node;
  Places batched;
  const onnx::Graph& graph;
  const ValueDescs& descs;
  bool trained;

  [[nodiscard]] std::int64_t rank(std::size_t input) const {
    return std::int64_t(descs.find(node.inputs[input])->second.tensor.shape.rank());
  }
  /// Whether an axis, counted from the front or the end, is the first.
  [[nodiscard]] bool is_first(std::int64_t axis) const { return axis == 0 || axis == -rank(0); }
};
using Rule = bool (*)(const Reading&);

/// Parallel over the data input only; weights and other inputs are read as a whole.
bool data(const Reading& r) {
  for (std::size_t i = 0; i < r.node.inputs.size(); ++i) {
    if (r.node.has_input(i) && r.batched.contains(i) != (i == 0)) return false;
  }
  return true;
}

/// A second output holds indices of maxima, which count elements of the whole batch.
bool one_output(const Reading& r) { return data(r) && !r.node.has_output(1); }

/// Broadcasting allowed: an input that is not a batch has no rows, or one.
bool elementwise(const Reading& r) {
  std::int64_t rank = 0;
  for (std::size_t i = 0; i < r.node.inputs.size(); ++i) {
    if (r.node.has_input(i)) rank = std::max(rank, r.rank(i));
  }
  for (std::size_t i = 0; i < r.node.inputs.size(); ++i) {
    if (!r.node.has_input(i)) continue;
    const Shape& shape = r.descs.find(r.node.inputs[i])->second.tensor.shape;
    const bool broadcast = r.rank(i) < rank || (rank > 0 && shape[0] == 1);
    if (r.batched.contains(i) ? r.rank(i) < rank : !broadcast) return false;
  }
  return true;
}

bool gemm(const Reading& r) {
  if (!data(r) || nodes::Gemm(r.node).transA() != 0) return false;
  if (!r.node.has_input(2)) return true;
  const Shape& c = r.descs.find(r.node.inputs[2])->second.tensor.shape;
  return c.rank() < 2 || c[0] == 1;
}

bool matmul(const Reading& r) {
  const std::int64_t a = r.rank(0), b = r.rank(1);
  if (a < 2 || !r.batched.contains(0)) return false;
  return r.batched.contains(1) ? a == b && a >= 3 : b < a || b == 2;
}

bool flatten(const Reading& r) { return nodes::Flatten(r.node).axis() == 1; }

/// The first dimension is copied, or follows from the others.
bool reshape(const Reading& r) {
  if (r.node.opset < 5 || !data(r)) return false;
  const auto shape = r.graph.initializers.find(r.node.inputs[1]);
  if (shape == r.graph.initializers.end() || shape->second.elements() == 0) return false;
  const std::int64_t first = shape->second.on_host().data<std::int64_t>()[0];
  const auto* allows_zero = r.node.attribute<std::int64_t>("allowzero");
  return first == -1 || (first == 0 && !(allows_zero && *allows_zero != 0));
}

bool concat(const Reading& r) {
  for (std::size_t i = 0; i < r.node.inputs.size(); ++i) {
    if (!r.batched.contains(i)) return false;
  }
  const auto axis = nodes::Concat(r.node).axis();
  return axis && !r.is_first(*axis);
}

bool axis_from_one(const Reading& r) {
  const auto* axis = r.node.attribute<std::int64_t>("axis");
  return data(r) && r.rank(0) > 1 && (!axis || !r.is_first(*axis));
}

/// A broadcast scale may have a row per sample.
bool row_normalization(const Reading& r) {
  if (!axis_from_one(r)) return false;
  for (std::size_t i = 1; i < r.node.inputs.size(); ++i) {
    if (!r.node.has_input(i) || r.rank(i) < r.rank(0)) continue;
    if (r.descs.find(r.node.inputs[i])->second.tensor.shape[0] != 1) return false;
  }
  return true;
}

bool transpose(const Reading& r) {
  const auto perm = nodes::Transpose(r.node).perm();
  return perm && !perm->empty() && perm->front() == 0;
}

bool batch_normalization(const Reading& r) {
  const auto* training = r.node.attribute<std::int64_t>("training_mode");
  return !r.trained && one_output(r) && !(training && *training != 0);
}

/// Dropout without training_mode drops nothing in inference.
bool dropout(const Reading& r) { return !r.trained && one_output(r) && !r.node.has_input(2); }

const std::map<std::string_view, Rule>& rules() {
  static const std::map<std::string_view, Rule> table = {
      {"Conv", data},
      {"ConvTranspose", data},
      {"AveragePool", data},
      {"LpPool", data},
      {"GlobalAveragePool", data},
      {"GlobalMaxPool", data},
      {"GlobalLpPool", data},
      {"LRN", data},
      {"InstanceNormalization", data},
      {"GroupNormalization", data},
      {"MaxPool", one_output},
      {"BatchNormalization", batch_normalization},
      {"Dropout", dropout},
      {"Gemm", gemm},
      {"MatMul", matmul},
      {"Flatten", flatten},
      {"Reshape", reshape},
      {"Concat", concat},
      {"Softmax", axis_from_one},
      {"LogSoftmax", axis_from_one},
      {"LayerNormalization", row_normalization},
      {"RMSNormalization", row_normalization},
      {"Transpose", transpose}};
  return table;
}

}  // namespace

bool is_batch_parallel(const onnx::Node& node, Places batched, const onnx::Graph& graph,
                       const ValueDescs& descs, bool trained) {
  const auto known = [&](const std::string& name) {
    const auto desc = descs.find(name);
    return name.empty() || (desc != descs.end() && desc->second.is_tensor());
  };
  if (!std::ranges::all_of(node.inputs, known) || !std::ranges::all_of(node.outputs, known)) {
    return false;
  }
  const Reading reading{node, batched, graph, descs, trained};
  if (is_elementwise(node)) return elementwise(reading);
  const auto rule = rules().find(node.op_type);
  return node.domain.empty() && rule != rules().end() && rule->second(reading);
}

}  // namespace d5
