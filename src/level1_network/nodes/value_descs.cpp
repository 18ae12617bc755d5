// SPDX-License-Identifier: Apache-2.0
#include "level1_network/nodes/value_descs.hpp"

#include <vector>

#include "d5/core/error.hpp"
#include "d5/core/framework.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/level0_ops/operator_runner.hpp"
#include "level0_ops/operator/drawn_values.hpp"

namespace d5 {
namespace {

/// What sizes are made of: numbers so few that computing them costs nothing.
constexpr std::int64_t kFew = 64;

bool is_few(const ValueDesc& desc) {
  return desc.is_tensor() && desc.is_static() && desc.tensor.shape.elements() <= kFew;
}

class Inference {
 public:
  Inference(const onnx::Graph& graph, ValueDescs known) : graph_(graph), known_(std::move(known)) {
    for (const auto& [name, value] : graph.initializers) known_[name] = value.desc();
  }
  ValueDescs run() {
    for (const auto& node : graph_.nodes) {
      try {
        infer(node);
      } catch (const Error&) {  // whoever runs the network is told
      }
    }
    return std::move(known_);
  }

 private:
  /// Adds what is known of a node's outputs.
  void infer(const onnx::Node& node) {
    std::vector<ValueDesc> inputs(node.inputs.size());
    std::vector<const Value*> constants(node.inputs.size());
    bool all_constant = !draws_random_numbers(node);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!node.has_input(i)) continue;
      const auto desc = known_.find(node.inputs[i]);
      if (desc == known_.end()) return;
      inputs[i] = desc->second;
      constants[i] = constant(node.inputs[i]);
      all_constant = all_constant && constants[i] && is_few(inputs[i]);
    }
    const auto outputs = operator_for(node)->infer(InferContext(node, inputs, constants));
    bool all_few = true;
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      all_few = all_few && is_few(outputs[k]);
      if (node.has_output(k) && outputs[k].is_static()) known_[node.outputs[k]] = outputs[k];
    }
    if (node.op_type == "Shape" && node.domain.empty()) return keep_sizes(node, inputs[0]);
    if (all_constant && all_few) compute(node, constants);
  }

  /// Null where it is none.
  const Value* constant(const std::string& name) {
    const auto computed = values_.find(name);
    if (computed != values_.end()) return &computed->second;
    const auto initializer = graph_.initializers.find(name);
    if (initializer == graph_.initializers.end()) return nullptr;
    return &(values_[name] = initializer->second.on_host());
  }

  /// Of a tensor whose values nobody knows, the sizes are known.
  void keep_sizes(const onnx::Node& node, const ValueDesc& x) {
    if (!x.is_tensor() || !x.is_static()) return;
    compute(node, {}, {Value(Tensor::zeros(x.tensor.dtype, x.tensor.shape))});
  }

  void compute(const onnx::Node& node, const std::vector<const Value*>& inputs,
               std::vector<Value> values = {}) {
    for (const Value* input : inputs) values.push_back(input ? *input : Value());
    OperatorRunner runner(framework("reference").part<OperatorRegistry>(), node, std::move(values));
    runner.forward();
    for (std::size_t k = 0; k < runner.output_count(); ++k) {
      if (node.has_output(k)) values_[node.outputs[k]] = runner.output(k);
    }
  }

  const onnx::Graph& graph_;
  ValueDescs known_;
  std::map<std::string, Value, std::less<>> values_;  ///< that are the same in each run
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
  return Inference(graph, std::move(known)).run();
}

}  // namespace d5
