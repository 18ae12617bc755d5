// SPDX-License-Identifier: Apache-2.0
#include "graph_translation.hpp"

#include <algorithm>
#include <variant>

#include "d5/core/error.hpp"
#include "d5/core/framework.hpp"
#include "d5/level0_ops/operator_runner.hpp"

namespace d5::tensorflow {
namespace {

/// Integers of so many elements may be shapes: they are computed while the graph is built.
constexpr std::int64_t kMostInShape = 4096;

/// Throws: Unsupported for what is no tensor of fixed sizes.
ValueDesc desc_of(const onnx::ValueInfo& input) {
  Shape shape;
  for (const onnx::Dim& dim : input.type.dims) {
    const auto* size = std::get_if<std::int64_t>(&dim);
    shape.push_back(size ? *size : kUnknownDim);
  }
  if (input.type.kind != ValueKind::tensor || !input.type.has_shape || !shape.is_static()) {
    throw Unsupported("input '" + printable(input.name) + "' is " + to_string(input.type) +
                      "; TensorFlow takes tensors of fixed sizes");
  }
  return TensorDesc{input.type.dtype, shape};
}

bool may_be_shape(const ValueDesc& desc) {
  return desc.is_tensor() && desc.is_static() && is_integer(desc.tensor.dtype) &&
         desc.tensor.elements() <= kMostInShape;
}

}  // namespace

GraphTranslation::GraphTranslation(const onnx::Graph& graph, const Translators& translators,
                                   bool differentiable) {
  for (const onnx::ValueInfo& input : graph.inputs) {
    Known known{desc_of(input)};
    known.term = graph_.placeholder(known.desc.tensor);
    inputs_.push_back(known.term);
    tensors_[input.name] = std::move(known);
  }
  for (const auto& [name, value] : graph.initializers) {
    tensors_.try_emplace(name, Known{ValueDesc(value.desc()), value});
  }
  for (const onnx::Node& node : graph.nodes) add_node(node, translators, differentiable);
}

void GraphTranslation::add_node(const onnx::Node& node, const Translators& translators,
                                bool differentiable) {
  const Translator* const translate = translators.find(node);
  if (!translate) {
    throw Unsupported(onnx::describe(node) + ": TensorFlow has no translation of it");
  }
  std::vector<ValueDesc> descs(node.inputs.size());
  std::vector<const Value*> constants(node.inputs.size());
  bool is_constant = true;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.has_input(i)) continue;
    const Known& input = known(node.inputs[i]);
    descs[i] = input.desc;
    if (input.value.kind() != ValueKind::none) constants[i] = &input.value;
    is_constant = is_constant && constants[i];
  }
  const auto op = operator_for(node);
  std::vector<ValueDesc> outputs = op->infer({node, descs, constants});
  outputs.resize(node.outputs.size());
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (!node.has_output(k)) continue;
    if (!outputs[k].is_tensor() || !outputs[k].is_static()) {
      throw Unsupported(onnx::describe(node) + ": only running tells the shape of '" +
                        printable(node.outputs[k]) +
                        "', which a graph of TensorFlow's cannot have here");
    }
    tensors_[node.outputs[k]] = {outputs[k]};
  }
  const bool folds = (is_constant || node.op_type == "Shape" || node.op_type == "Size") &&
                     std::ranges::all_of(outputs, may_be_shape);
  if (folds) return fold(node);

  const PlanContext context(*op, node, descs, constants, outputs,
                            {.grad_inputs = differentiable ? op->gradients() : Places{}});
  if (const Support support = takes(context); !support) {
    throw Unsupported(context.who() + ": TensorFlow does not take " + support.reason);
  }
  Terms inputs(node.inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (node.has_input(i)) inputs[i] = term(node.inputs[i]);
  }
  graph_.set_who(context.who());
  const Terms results = (*translate)(context, graph_, inputs);
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    if (!node.has_output(k)) continue;
    if (k >= results.size() || !is_there(results[k])) {
      throw Unsupported(context.who() + ": TensorFlow's kernel gives no output " +
                        std::to_string(k));
    }
    known(node.outputs[k]).term = results[k];
  }
}

void GraphTranslation::fold(const onnx::Node& node) {
  std::vector<Value> values;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.has_input(i)) {
      values.emplace_back();
      continue;
    }
    const Known& input = known(node.inputs[i]);
    // Of what is not constant the shape alone is read.
    values.push_back(input.value.kind() == ValueKind::none ? Value(Tensor::empty(input.desc.tensor))
                                                           : input.value);
  }
  OperatorRunner runner(framework("reference").part<OperatorRegistry>(), node, std::move(values));
  runner.forward();
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    if (node.has_output(k)) known(node.outputs[k]).value = runner.output(k).tensor().copy();
  }
}

GraphTranslation::Known& GraphTranslation::known(const std::string& name) {
  const auto place = tensors_.find(name);
  if (place == tensors_.end()) throw NotFound("no tensor is called '" + printable(name) + "'");
  return place->second;
}

Term GraphTranslation::term(const std::string& name) {
  Known& tensor = known(name);
  if (!is_there(tensor.term)) tensor.term = graph_.constant(tensor.value.tensor());
  return tensor.term;
}

const TensorDesc& GraphTranslation::desc(const std::string& name) const {
  return tensors_.at(name).desc.tensor;
}

}  // namespace d5::tensorflow
