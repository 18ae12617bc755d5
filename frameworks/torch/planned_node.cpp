// SPDX-License-Identifier: Apache-2.0
#include "planned_node.hpp"

#include <c10/core/InferenceMode.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "operator_function.hpp"

namespace d5::torch {
namespace {

ValueDesc desc_of(const at::Tensor& tensor) {
  if (!tensor.defined()) return {};
  const std::span<const std::int64_t> sizes(tensor.sizes().data(), tensor.sizes().size());
  return TensorDesc{dtype_of_scalar(tensor.scalar_type()), Shape(sizes)};
}

}  // namespace

PlannedNode::PlannedNode(const onnx::Node& node, std::vector<int> inputs, std::vector<int> outputs,
                         const OperatorRegistry& operators)
    : node_(&node),
      inputs_(std::move(inputs)),
      outputs_(std::move(outputs)),
      operators_(&operators),
      arguments_(inputs_.size()),
      results_(outputs_.size()) {
  if (const Support known = operators.knows(node); !known) {
    throw Unsupported(onnx::describe(node) + ": torch does not support " + known.reason);
  }
  const OperatorRegistry* own[] = {&operators};
  op_ = operator_for(node, own);
}

void PlannedNode::plan(std::span<const KnownValue> known) {
  const c10::InferenceMode normal(false);  // autograd may keep what a kernel prepares
  std::vector<ValueDesc> descs;
  std::vector<const Value*> constants(arguments_.size());
  changes_ = false;
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    descs.push_back(desc_of(arguments_[i]));
    if (inputs_[i] < 0) continue;
    const KnownValue& input = known[std::size_t(inputs_[i])];
    if (input.value.kind() != ValueKind::none) constants[i] = &input.value;
    changes_ = changes_ || input.shape_changes;
  }
  const auto infer = [&] {
    auto outputs = op_->infer({*node_, descs, constants});
    outputs.resize(outputs_.size());
    return outputs;
  };
  std::vector<ValueDesc> outputs = infer();
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    changes_ = changes_ || (outputs_[k] >= 0 && !outputs[k].is_static());
  }
  std::vector<Value> values(arguments_.size());
  if (changes_) {
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      if (!arguments_[i].defined()) continue;
      values[i] = share(arguments_[i].detach());
      constants[i] = &values[i];
    }
    outputs = infer();
  }
  for (const ValueDesc& output : outputs) {
    if (output.is_tensor() && output.is_static()) expect_holds(output.tensor.shape);
  }
  PlanContext context(*op_, *node_, descs, constants, outputs, {});
  kernel_ = operators_->plan(context);
  torch_kernel_ = dynamic_cast<const TorchKernel*>(kernel_.get());
  if (!torch_kernel_) {  // a user's own
    auto function = std::make_unique<OperatorFunction>(context, *operators_);
    torch_kernel_ = function.get();
    kernel_ = std::move(function);
  }
  cost_ = changes_ ? Cost{} : op_->cost(context);
}

void PlannedNode::run(std::span<at::Tensor> values, std::span<KnownValue> known,
                      const Random& random) {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i] >= 0) arguments_[i] = values[std::size_t(inputs_[i])];
  }
  const bool fresh = !kernel_ || changes_;
  try {
    if (fresh) plan(known);
    torch_kernel_->call(arguments_, results_, random);
  } catch (...) {
    rethrow(onnx::describe(*node_));
  }
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    if (outputs_[k] < 0 || results_[k].defined()) continue;
    throw ContractError(onnx::describe(*node_) + ": torch's kernel gives no output " +
                        std::to_string(k));
  }
  if (fresh) learn(known);
  for (at::Tensor& argument : arguments_) argument.reset();
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    at::Tensor result = std::move(results_[k]);
    if (outputs_[k] >= 0) values[std::size_t(outputs_[k])] = std::move(result);
  }
}

void PlannedNode::learn(std::span<KnownValue> known) const {
  const auto is_known = [&](int place) {
    return place < 0 || known[std::size_t(place)].value.kind() != ValueKind::none;
  };
  const bool constant =
      !changes_ && (!torch_kernel_->reads_values() || std::ranges::all_of(inputs_, is_known));
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    if (outputs_[k] < 0) continue;
    KnownValue& output = known[std::size_t(outputs_[k])];
    output.shape_changes = changes_;
    output.value = constant ? Value(share(results_[k].detach())) : Value();
  }
}

}  // namespace d5::torch
