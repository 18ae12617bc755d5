// SPDX-License-Identifier: Apache-2.0
#include "level1_network/nodes/value_descs.hpp"

#include <algorithm>
#include <vector>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/level0_ops/run/operator_runner.hpp"
#include "d5/onnx/visitor.hpp"
#include "level0_ops/operator/drawn_values.hpp"

namespace d5 {
namespace {

/// Limit on the elements of sizes and index tensors, so that computing them is cheap.
constexpr std::int64_t kFew = 64;

bool is_few(const ValueDesc& desc) {
  return desc.is_tensor() && desc.is_static() && desc.tensor.shape.elements() <= kFew;
}

enum class Branches { unseen, taken };
enum class Until { end, refusal };

class GraphWalk {
 public:
  GraphWalk(ValueDescs known, KnownValues values, Branches branches, Until until)
      : branches_(branches), until_(until) {
    result_.descs = std::move(known);
    result_.values = std::move(values);
  }
  Inference take() { return std::move(result_); }

  void walk(const onnx::Graph& graph) {
    for (const auto& [name, value] : graph.initializers) {
      result_.descs[name] = value.desc();
      initializers_[name] = &value;
    }
    for (const auto& node : graph.nodes) {
      if (until_ == Until::refusal && !result_.refusal.empty()) return;
      try {
        infer(node);
      } catch (const ShapeError& error) {
        refuse(error);
      } catch (const ValueError& error) {
        refuse(error);
      } catch (const Error&) {  // running the network reports it
      }
    }
  }

 private:
  void refuse(const Error& error) {
    if (result_.refusal.empty()) result_.refusal = error.what();
  }

  /// Adds the inferred descriptions of a node's outputs.
  void infer(const onnx::Node& node) {
    std::vector<ValueDesc> inputs(node.inputs.size());
    std::vector<const Value*> constants(node.inputs.size());
    bool all_constant = !draws_random_numbers(node);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!node.has_input(i)) continue;
      const auto desc = result_.descs.find(node.inputs[i]);
      if (desc == result_.descs.end()) return;
      inputs[i] = desc->second;
      constants[i] = constant(node.inputs[i]);
      all_constant = all_constant && constants[i] && is_few(inputs[i]);
    }
    const auto outputs = operator_for(node)->infer(InferContext(node, inputs, constants));
    if (node.op_type == "If" && node.domain.empty()) return take_branch(node, constants.front());
    bool all_few = true;
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      all_few = all_few && is_few(outputs[k]);
      if (node.has_output(k) && outputs[k].is_static()) {
        result_.descs[node.outputs[k]] = outputs[k];
      }
    }
    if (node.op_type == "Shape" && node.domain.empty()) return keep_sizes(node, inputs[0]);
    if (all_constant && all_few) compute(node, constants);
  }

  /// Infers the branch that a known condition selects. Names are unique in a graph and its nested
  /// graphs, so all may share one table.
  void take_branch(const onnx::Node& node, const Value* condition) {
    if (!condition || branches_ == Branches::unseen) return;
    const auto graphs = onnx::subgraphs(node);
    const auto taken =
        graphs.find(condition->tensor().item<bool>() ? "then_branch" : "else_branch");
    if (taken == graphs.end()) return;
    walk(*taken->second);
    const auto& results = taken->second->outputs;
    for (std::size_t k = 0; k < std::min(results.size(), node.outputs.size()); ++k) {
      if (!node.has_output(k)) continue;
      const auto desc = result_.descs.find(results[k].name);
      if (desc != result_.descs.end()) result_.descs[node.outputs[k]] = desc->second;
      if (const Value* value = constant(results[k].name)) {
        const Value kept = *value;
        result_.values[node.outputs[k]] = kept;
      }
    }
  }

  /// Null if it is not constant.
  const Value* constant(const std::string& name) {
    const auto computed = result_.values.find(name);
    if (computed != result_.values.end()) return &computed->second;
    const auto initializer = initializers_.find(name);
    if (initializer == initializers_.end()) return nullptr;
    return &(result_.values[name] = initializer->second->on_host());
  }

  /// Keeps the sizes of a tensor whose values are unknown; this needs no memory.
  void keep_sizes(const onnx::Node& node, const ValueDesc& x) {
    if (!x.is_tensor() || !x.is_static()) return;
    compute(node, {}, {Value(Tensor::borrow(x.tensor, nullptr))});
  }

  void compute(const onnx::Node& node, const std::vector<const Value*>& inputs,
               std::vector<Value> values = {}) {
    for (const Value* input : inputs) values.push_back(input ? *input : Value());
    OperatorRunner runner(framework("reference").part<OperatorRegistry>(), node, std::move(values));
    runner.forward();
    for (std::size_t k = 0; k < runner.output_count(); ++k) {
      if (node.has_output(k)) result_.values[node.outputs[k]] = runner.output(k);
    }
  }

  Inference result_;
  Branches branches_;
  Until until_;
  std::map<std::string, const Tensor*, std::less<>> initializers_;
};

}  // namespace

ValueDescs infer_values(const onnx::Graph& graph,
                        const std::function<std::int64_t(const onnx::Dim&)>& size_of) {
  ValueDescs known;
  for (const auto& [name, type] : graph.inputs) {
    if (type.kind != ValueKind::tensor || !type.has_shape) continue;
    Shape shape;
    for (const onnx::Dim& dim : type.dims) {
      const auto* size = std::get_if<std::int64_t>(&dim);
      shape.push_back(size ? *size : size_of(dim));
    }
    known[name] = TensorDesc{type.dtype, shape};
  }
  return infer_values(graph, std::move(known));
}

ValueDescs infer_values(const onnx::Graph& graph, ValueDescs known) {
  GraphWalk walk(std::move(known), {}, Branches::unseen, Until::end);
  walk.walk(graph);
  return walk.take().descs;
}

Inference infer_graph(const onnx::Graph& graph, ValueDescs known, KnownValues values) {
  GraphWalk walk(std::move(known), std::move(values), Branches::taken, Until::end);
  walk.walk(graph);
  return walk.take();
}

std::string refusal_of(const onnx::Graph& graph, ValueDescs known, KnownValues values) {
  GraphWalk walk(std::move(known), std::move(values), Branches::taken, Until::refusal);
  walk.walk(graph);
  return walk.take().refusal;
}

}  // namespace d5
