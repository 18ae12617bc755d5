// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/graph/model_walk.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/run/operator_runner.hpp"
#include "level1_network/graph/whole_model.hpp"

namespace d5 {
namespace {

/// Integer tensors of up to this many elements may be shapes, which are computed before a run.
constexpr std::int64_t kMostInShape = 4096;

bool may_be_shape(const ValueDesc& desc) {
  return desc.is_tensor() && desc.is_static() && is_integer(desc.tensor.dtype) &&
         desc.tensor.elements() <= kMostInShape;
}

}  // namespace

ModelWalk::ModelWalk(const onnx::Graph& graph, Purpose purpose) : graph_(graph), purpose_(purpose) {
  for (const onnx::ValueInfo& input : graph.inputs) {
    const ValueDesc desc = static_desc(input.type);
    if (!desc.is_tensor()) {
      throw Unsupported(fmt::format(
          "input '{}' is {}; whole networks are compiled only for tensors of fixed sizes",
          printable(input.name), onnx::to_string(input.type)));
    }
    tensors_[input.name] = {desc};
  }
  for (const auto& [name, value] : graph.initializers) {
    tensors_.try_emplace(name, Known{ValueDesc(value.desc()), value});
  }
}

void ModelWalk::visit(const std::function<void(const PlanContext&)>& visit) {
  for (const onnx::Node& node : graph_.nodes) step(node, visit);
}

void ModelWalk::step(const onnx::Node& node, const std::function<void(const PlanContext&)>& visit) {
  std::vector<ValueDesc> descs(node.inputs.size());
  std::vector<const Value*> constants(node.inputs.size());
  bool is_constant = true;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.has_input(i)) continue;
    descs[i] = known(node.inputs[i]).desc;
    constants[i] = constant(node.inputs[i]);
    is_constant = is_constant && constants[i];
  }
  const auto op = operator_for(node);
  std::vector<ValueDesc> outputs = op->infer({node, descs, constants});
  outputs.resize(node.outputs.size());
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (!node.has_output(k)) continue;
    if (!outputs[k].is_tensor() || !outputs[k].is_static()) {
      throw Unsupported(
          fmt::format("{}: '{}' is known only at run time; whole networks are compiled only for "
                      "tensors of fixed sizes",
                      onnx::describe(node), printable(node.outputs[k])));
    }
    tensors_[node.outputs[k]] = {outputs[k]};
  }
  const bool computes = is_constant || node.op_type == "Shape" || node.op_type == "Size";
  if (computes && std::ranges::all_of(outputs, may_be_shape)) return compute(node);
  visit(PlanContext(*op, node, descs, constants, outputs,
                    {.mode = purpose_.mode,
                     .grad_inputs = purpose_.differentiable ? op->gradients() : Places{}}));
}

void ModelWalk::compute(const onnx::Node& node) {
  std::vector<Value> values;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.has_input(i)) {
      values.emplace_back();
      continue;
    }
    // Tensors that are not constant are read only for their shape.
    const Value* value = constant(node.inputs[i]);
    values.push_back(value ? *value : Value(Tensor::empty(desc(node.inputs[i]))));
  }
  OperatorRunner runner(framework("reference").part<OperatorRegistry>(), node, std::move(values));
  runner.forward();
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    if (node.has_output(k)) tensors_[node.outputs[k]].value = runner.output(k).tensor().copy();
  }
}

const ModelWalk::Known& ModelWalk::known(std::string_view name) const {
  const auto place = tensors_.find(name);
  if (place == tensors_.end()) throw NotFound("no tensor is called '" + printable(name) + "'");
  return place->second;
}

const TensorDesc& ModelWalk::desc(std::string_view name) const { return known(name).desc.tensor; }

const Value* ModelWalk::constant(std::string_view name) const {
  const Value& value = known(name).value;
  return value.kind() == ValueKind::none ? nullptr : &value;
}

}  // namespace d5
