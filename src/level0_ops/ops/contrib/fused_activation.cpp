// SPDX-License-Identifier: Apache-2.0
// com.microsoft's FusedConv and FusedGemm: an operator followed by an activation. A convolution may
// add a tensor, its fourth input, in between. The sum and the activation run in place on the
// output.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <string_view>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/arena.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/schema.hpp"
#include "level0_ops/operator/wide_kernel.hpp"

namespace d5::ops {
namespace {

constexpr std::string_view kAttributes[] = {"activation", "activation_params", "activation_alpha",
                                            "activation_beta", "activation_gamma"};

std::string activation_of(const onnx::Node& node) {
  const auto* name = node.attribute<std::string>("activation");
  if (!name) {
    throw NotFound(
        fmt::format("{}: attribute 'activation' is missing; expected the name of an "
                    "activation, as Relu",
                    onnx::describe(node)));
  }
  return *name;
}

constexpr std::size_t kZ = 3;  ///< input that a convolution adds before its activation

/// The node of the operator without activation.
onnx::Node plain(const onnx::Node& node, const std::string& op_type) {
  const std::size_t most = op_type == "Conv" ? kZ + 1 : kZ;
  if (node.inputs.size() > most) {
    throw Unsupported(
        fmt::format("{}: it has {} inputs, expected at most {}; add others by a separate Sum",
                    onnx::describe(node), node.inputs.size(), most));
  }
  onnx::Node result = node;
  if (result.inputs.size() > kZ) result.inputs.resize(kZ);
  result.op_type = op_type;
  result.domain.clear();
  result.opset = onnx::newest_opset("");
  for (const auto attribute : kAttributes) {
    if (const auto place = result.attributes.find(attribute); place != result.attributes.end()) {
      result.attributes.erase(place);
    }
  }
  return result;
}

constexpr int kLimitsAreAttributes = 10;  ///< the last opset in which Clip's limits are attributes

onnx::Node activation(const onnx::Node& node) {
  static const std::set<std::string_view> kKnown = {"Clip", "HardSigmoid", "LeakyRelu",
                                                    "Relu", "Sigmoid",     "Tanh"};
  onnx::Node result;
  result.name = node.name;
  result.op_type = activation_of(node);
  result.opset = onnx::newest_opset("");
  result.inputs = result.outputs = {"y"};
  if (!kKnown.contains(result.op_type)) {
    throw Unsupported(fmt::format("{}: activation '{}' is unknown; known: {}", onnx::describe(node),
                                  printable(result.op_type),
                                  "Clip, HardSigmoid, LeakyRelu, Relu, Sigmoid, Tanh"));
  }
  const auto* parameters = node.attribute<std::vector<float>>("activation_params");
  if (result.op_type == "Clip") {
    result.opset = kLimitsAreAttributes;
    constexpr std::array kLimits = {"min", "max"};
    for (std::size_t i = 0; parameters && i < std::min(kLimits.size(), parameters->size()); ++i) {
      result.attributes[kLimits[i]] = (*parameters)[i];
    }
    return result;
  }
  constexpr std::array kNames = {"alpha", "beta"};
  const std::size_t count = result.op_type == "HardSigmoid" ? 2
                            : result.op_type == "LeakyRelu" ? 1
                                                            : 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto* one = node.attribute<float>(std::string("activation_") + kNames[i]);
    if (parameters && i < parameters->size()) one = &(*parameters)[i];
    if (one) result.attributes[kNames[i]] = *one;
  }
  return result;
}

/// y = y + z
onnx::Node addition(const onnx::Node& node) {
  onnx::Node result;
  result.name = node.name;
  result.op_type = "Add";
  result.opset = onnx::newest_opset("");
  result.inputs = {"y", "z"};
  result.outputs = {"y"};
  return result;
}

/// A context's inputs without Z, for a context of another node.
struct Inputs {
  explicit Inputs(const InferContext& context) {
    for (std::size_t i = 0; i < std::min(context.input_count(), kZ); ++i) {
      descs.push_back(context.has_input(i) ? context.value(i) : ValueDesc());
      constants.push_back(context.constant_value(i));
    }
  }
  std::vector<ValueDesc> descs;
  std::vector<const Value*> constants;
};

/// A node and its operator.
struct Meaning {
  onnx::Node node;
  std::unique_ptr<Operator> op;
  explicit Meaning(onnx::Node of) : node(std::move(of)), op(operator_for(node)) {}
};

/// The kernel of a function that works in place on the fused node's output; `scratch_bytes` is
/// increased as needed.
std::unique_ptr<Kernel> planned_in_place(const PlanContext& context, const Meaning& function,
                                         Places grad_inputs, std::size_t& scratch_bytes) {
  const std::vector<ValueDesc> output = {context.output_value(0)};
  const std::vector<ValueDesc> inputs(function.node.inputs.size(), output[0]);
  const std::vector<const Value*> unknown(inputs.size());
  PlanContext own(*function.op, function.node, inputs, unknown, output,
                  {.mode = context.mode(), .device = context.device(), .grad_inputs = grad_inputs});
  std::unique_ptr<Kernel> kernel = function.op->plan(own);
  if (kernel->traits().in_place_output != 0 || !own.saved().empty()) {
    throw Unsupported(
        fmt::format("{}: {} cannot work in place", context.who(), function.node.op_type));
  }
  scratch_bytes = std::max(scratch_bytes, own.scratch_bytes());
  return kernel;
}

class FusedKernel final : public Kernel {
 public:
  FusedKernel(PlanContext& context, const Meaning& product, const Meaning& addition,
              const Meaning& activation)
      : output_(context.output(0)) {
    if (context.wants_backward() && size_of(output_.dtype) < size_of(DType::float32)) {
      // Computed in float32 instead, so that intermediate values are not rounded.
      throw Unsupported(
          fmt::format("{}: it has no gradient in {}", context.who(), name_of(output_.dtype)));
    }
    const Inputs inputs(context);
    Places gradients;
    for (std::size_t i = 0; i < inputs.descs.size(); ++i) {
      if (context.wants_grad(i)) gradients.add(i);
    }
    reaches_product_ = !gradients.empty();
    const std::vector<ValueDesc> output = {context.output_value(0)};
    PlanContext own(*product.op, product.node, inputs.descs, inputs.constants, output,
                    {.mode = context.mode(), .device = context.device(), .grad_inputs = gradients});
    product_ = product.op->plan(own);
    std::size_t scratch_bytes = own.scratch_bytes();
    if (context.has_input(kZ)) sum_ = planned_in_place(context, addition, {}, scratch_bytes);
    activation_ = planned_in_place(context, activation,
                                   context.wants_backward() ? Places{0} : Places{}, scratch_bytes);
    for (const TensorDesc& desc : own.saved()) context.save(desc);
    gradient_bytes_ = context.wants_backward() ? Arena::aligned(output_.bytes()) : 0;
    context.request_scratch(gradient_bytes_ + scratch_bytes);
  }

  void forward(OpContext& context) override {
    OpContext product = context;
    product.inputs = context.inputs.first(std::min(context.inputs.size(), kZ));
    product.scratch_bytes = context.scratch_bytes.subspan(gradient_bytes_);
    product_->forward(product);
    OpContext behind = product;
    behind.saved_tensors = {};
    const std::array<const Value*, 2> y_and_z = {context.outputs[0],
                                                 sum_ ? context.inputs[kZ] : nullptr};
    behind.inputs = y_and_z;
    if (sum_) sum_->forward(behind);
    behind.inputs = {y_and_z.data(), 1};
    activation_->forward(behind);
  }

  /// The gradient before the activation is in scratch memory; it is also the gradient of Z.
  void backward(GradContext& context) override {
    std::byte* before = context.scratch().data();
    if (!gradient_.defined() || gradient_.raw() != before) {
      gradient_ = Tensor::borrow(output_, before);
    }
    Tensor* const gradient = &gradient_;
    GradContext activation = context;
    const Value* const none = nullptr;
    activation.inputs = {&none, 1};
    activation.grad_inputs = {&gradient, 1};
    activation.scratch_bytes = context.scratch().subspan(gradient_bytes_);
    activation.saved_tensors = {};
    activation_->backward(activation);
    if (context.wants_grad(kZ)) {
      std::memcpy(context.grad_input(kZ).raw(), gradient_.raw(), gradient_.bytes());
    }
    if (!reaches_product_) return;
    const Tensor* const product_gradient = &gradient_;
    GradContext product = context;
    product.inputs = context.inputs.first(std::min(context.inputs.size(), kZ));
    product.grad_inputs = context.grad_inputs.first(product.inputs.size());
    product.grad_outputs = {&product_gradient, 1};
    product.scratch_bytes = context.scratch().subspan(gradient_bytes_);
    product_->backward(product);
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = product_->traits().backward_reads_inputs,
            .backward_reads_outputs = {0}};
  }

 private:
  std::unique_ptr<Kernel> product_, sum_, activation_;  ///< `sum_` is null without Z
  bool reaches_product_ = false;                        ///< a gradient besides Z's is wanted
  TensorDesc output_;
  std::size_t gradient_bytes_ = 0;
  Tensor gradient_;
};

/// Shapes: as the operator without activation; Z has the output's shape.
class FusedActivation final : public Operator {
 public:
  FusedActivation(const onnx::Node& node, const std::string& op_type)
      : product_(plain(node, op_type)), addition_(addition(node)), activation_(activation(node)) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const Inputs inputs(context);
    std::vector<ValueDesc> outputs =
        product_.op->infer(InferContext(product_.node, inputs.descs, inputs.constants));
    if (context.has_input(kZ)) expect_alike(context, outputs.at(0).tensor);
    return outputs;
  }
  /// Empty if the activation's gradient needs its input, which it overwrites.
  Places gradients() const override {
    static const std::set<std::string_view> kFromOutput = {"Relu", "Sigmoid", "Tanh"};
    if (!kFromOutput.contains(activation_.node.op_type)) return {};
    Places result = product_.op->gradients();
    if (product_.node.op_type == "Conv") result.add(kZ);
    return result;
  }
  Cost cost(const InferContext& context) const override {
    const Inputs inputs(context);
    Cost cost = product_.op->cost(InferContext(product_.node, inputs.descs, inputs.constants));
    const std::vector<ValueDesc> output = infer(context);
    const std::vector<const Value*> unknown(1);
    cost.flop += activation_.op->cost(InferContext(activation_.node, output, unknown)).flop;
    if (context.has_input(kZ)) {
      cost.flop += double(output.at(0).tensor.elements());
      cost.bytes_read += double(output.at(0).tensor.bytes());
    }
    return cost;
  }
  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return detail::plan_with_gradient(context, [&](PlanContext& own) {
      return std::make_unique<FusedKernel>(own, product_, addition_, activation_);
    });
  }

 private:
  static void expect_alike(const InferContext& context, const TensorDesc& y) {
    const TensorDesc& z = context.input(kZ);
    if (z.dtype != y.dtype) {
      throw TypeError(fmt::format("{}: Z is of {}, expected {}, as X", context.who(),
                                  name_of(z.dtype), name_of(y.dtype)));
    }
    if (z.shape != y.shape) {
      throw ShapeError(
          fmt::format("{}: Z is {}, expected {}, the shape of the output; add broadcast tensors by "
                      "a separate Add",
                      context.who(), to_string(z.shape), to_string(y.shape)));
    }
  }

  Meaning product_, addition_, activation_;
};

void add(OperatorRegistry& registry, const std::string& name, const std::string& op_type) {
  registry.add(name, {.domain = "com.microsoft"}, [op_type](const onnx::Node& node) {
    return std::make_unique<FusedActivation>(node, op_type);
  });
}

}  // namespace

void register_fused_activation(OperatorRegistry& registry) {
  add(registry, "FusedConv", "Conv");
  add(registry, "FusedGemm", "Gemm");
}

}  // namespace d5::ops
