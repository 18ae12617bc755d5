// SPDX-License-Identifier: Apache-2.0
// com.microsoft's FusedConv and FusedGemm: an operator and the activation behind it, as ONNX
// Runtime has them. Here the activation runs over the output where it lies.
#include <fmt/format.h>

#include <array>
#include <set>
#include <string_view>

#include "d5/core/arena.hpp"
#include "d5/core/error.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/schema.hpp"

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

/// The operator that the activation stands behind.
onnx::Node plain(const onnx::Node& node, const std::string& op_type) {
  constexpr std::size_t kMostInputs = 3;  // ONNX Runtime's FusedConv may add a fourth
  if (node.inputs.size() > kMostInputs) {
    throw Unsupported(
        fmt::format("{}: it has {} inputs, expected at most {}; add others by a "
                    "Sum of their own",
                    onnx::describe(node), node.inputs.size(), kMostInputs));
  }
  onnx::Node result = node;
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

onnx::Node activation(const onnx::Node& node) {
  static const std::set<std::string_view> kKnown = {"HardSigmoid", "LeakyRelu", "Relu", "Sigmoid",
                                                    "Tanh"};
  onnx::Node result;
  result.name = node.name;
  result.op_type = activation_of(node);
  result.opset = onnx::newest_opset("");
  result.inputs = result.outputs = {"y"};
  if (!kKnown.contains(result.op_type)) {
    throw Unsupported(fmt::format("{}: activation '{}' is unknown; known: {}", onnx::describe(node),
                                  printable(result.op_type),
                                  "HardSigmoid, LeakyRelu, Relu, Sigmoid, Tanh"));
  }
  const auto* parameters = node.attribute<std::vector<float>>("activation_params");
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

/// What a context knows of its inputs, for a context of another node.
struct Inputs {
  explicit Inputs(const InferContext& context) {
    for (std::size_t i = 0; i < context.input_count(); ++i) {
      descs.push_back(context.has_input(i) ? context.value(i) : ValueDesc());
      constants.push_back(context.constant_value(i));
    }
  }
  std::vector<ValueDesc> descs;
  std::vector<const Value*> constants;
};

class FusedKernel final : public Kernel {
 public:
  FusedKernel(PlanContext& context, const onnx::Node& product, const Operator& product_op,
              const onnx::Node& function, const Operator& function_op)
      : output_(context.output(0)) {
    const Inputs inputs(context);
    Places gradients;
    for (std::size_t i = 0; i < context.input_count(); ++i) {
      if (context.wants_grad(i)) gradients.add(i);
    }
    const std::vector<ValueDesc> output = {context.output_value(0)};
    PlanContext own(product_op, product, inputs.descs, inputs.constants, output,
                    {.mode = context.mode(), .device = context.device(), .grad_inputs = gradients});
    product_ = product_op.plan(own);
    const std::vector<const Value*> unknown(1);
    PlanContext behind(function_op, function, output, unknown, output,
                       {.mode = context.mode(),
                        .device = context.device(),
                        .grad_inputs = context.wants_backward() ? Places{0} : Places{}});
    function_ = function_op.plan(behind);
    if (function_->traits().in_place_output != 0) {
      throw Unsupported(
          fmt::format("{}: {} cannot write where it reads", context.who(), function.op_type));
    }
    for (const TensorDesc& desc : own.saved()) context.save(desc);
    gradient_bytes_ = context.wants_backward() ? Arena::aligned(output_.bytes()) : 0;
    context.request_scratch(gradient_bytes_ + own.scratch_bytes());
  }

  void forward(OpContext& context) override {
    OpContext product = context;
    product.scratch_bytes = context.scratch_bytes.subspan(gradient_bytes_);
    product_->forward(product);
    const Value* const y = context.outputs[0];
    OpContext function = context;
    function.inputs = {&y, 1};
    function.scratch_bytes = {};
    function.saved_tensors = {};
    function_->forward(function);
  }

  /// The gradient between the two is in scratch memory.
  void backward(GradContext& context) override {
    std::byte* between = context.scratch().data();
    if (!gradient_.defined() || gradient_.raw() != between) {
      gradient_ = Tensor::borrow(output_, between);
    }
    Tensor* const gradient = &gradient_;
    GradContext function = context;
    const Value* const none = nullptr;
    function.inputs = {&none, 1};
    function.grad_inputs = {&gradient, 1};
    function.scratch_bytes = {};
    function.saved_tensors = {};
    function_->backward(function);
    const Tensor* const product_gradient = &gradient_;
    GradContext product = context;
    product.grad_outputs = {&product_gradient, 1};
    product.scratch_bytes = context.scratch().subspan(gradient_bytes_);
    product_->backward(product);
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = product_->traits().backward_reads_inputs,
            .backward_reads_outputs = {0}};
  }

 private:
  std::unique_ptr<Kernel> product_, function_;
  TensorDesc output_;
  std::size_t gradient_bytes_ = 0;
  Tensor gradient_;
};

/// Shapes: as those of the operator without activation.
class FusedActivation final : public Operator {
 public:
  FusedActivation(const onnx::Node& node, const std::string& op_type)
      : plain_(plain(node, op_type)),
        activation_(activation(node)),
        operator_(operator_for(plain_)),
        function_(operator_for(activation_)) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const Inputs inputs(context);
    return operator_->infer(InferContext(plain_, inputs.descs, inputs.constants));
  }
  /// None where the activation's needs what the activation overwrites.
  Places gradients() const override {
    static const std::set<std::string_view> kFromOutput = {"Relu", "Sigmoid", "Tanh"};
    return kFromOutput.contains(activation_.op_type) ? operator_->gradients() : Places();
  }
  Cost cost(const InferContext& context) const override {
    const Inputs inputs(context);
    Cost cost = operator_->cost(InferContext(plain_, inputs.descs, inputs.constants));
    const std::vector<ValueDesc> output = infer(context);
    const std::vector<const Value*> unknown(1);
    cost.flop += function_->cost(InferContext(activation_, output, unknown)).flop;
    return cost;
  }
  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return std::make_unique<FusedKernel>(context, plain_, *operator_, activation_, *function_);
  }

 private:
  onnx::Node plain_, activation_;
  std::unique_ptr<Operator> operator_, function_;
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
