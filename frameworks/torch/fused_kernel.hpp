// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/sigmoid_backward.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/tanh_backward.h>
#include <ATen/ops/threshold_backward.h>

#include <array>
#include <concepts>
#include <string>

#include "torch_kernel.hpp"

namespace d5::torch {

/// Adds the activation that the node names to the output of `K`; for FusedConv possibly after a sum
/// with the fourth input. For com.microsoft's FusedConv and FusedGemm.
template <std::derived_from<TorchKernel> K>
class FusedKernel final : public TorchKernel {
 public:
  explicit FusedKernel(const PlanContext& context)
      : TorchKernel(context),
        product_(context),
        adds_(context.has_input(kZ)),
        activation_(*context.node().attribute<std::string>("activation")),
        gradient_(context.wants_backward() ? Tensor::empty(context.output(0)) : Tensor()) {}

  void call(Inputs inputs, Results results, const Random& random) const override {
    product_.call(inputs, results, random);
    at::Tensor& y = results[0];
    if (adds_) y = at::add(y, inputs[kZ]);
    y = activation_ == "Relu" ? at::relu(y) : activation_ == "Tanh" ? at::tanh(y) : at::sigmoid(y);
  }
  KernelTraits traits() const override {
    return {.backward_reads_inputs = product_.traits().backward_reads_inputs,
            .backward_reads_outputs = {0}};
  }

  static Support check(const PlanContext& context) {
    const auto* name = context.node().attribute<std::string>("activation");
    if (!name || (*name != "Relu" && *name != "Sigmoid" && *name != "Tanh")) {
      return {"it fuses only Relu, Sigmoid and Tanh"};
    }
    return computes_some(context);
  }

 protected:
  void run(OpContext& context) override {
    product_.forward(context);
    at::Tensor& y = out(context, 0);
    if (adds_) at::add_out(y, y, in(context, kZ));
    if (activation_ == "Relu") {
      at::relu_(y);
    } else if (activation_ == "Tanh") {
      at::tanh_(y);
    } else {
      at::sigmoid_(y);
    }
  }
  void differentiate(GradContext& context) override {
    const at::Tensor &dy = grad_out(context, 0), &y = out(context, 0);
    at::Tensor& between = between_.of(gradient_);
    if (activation_ == "Relu") {
      at::threshold_backward_out(between, dy, y, 0);
    } else if (activation_ == "Tanh") {
      at::tanh_backward_out(between, dy, y);
    } else {
      at::sigmoid_backward_out(between, dy, y);
    }
    if (adds_ && context.wants_grad(kZ)) grad_in(context, kZ).copy_(between);
    const std::array<const Tensor*, 1> gradients = {&gradient_};
    GradContext product = context;
    product.grad_outputs = gradients;
    product_.backward(product);
  }

 private:
  static constexpr std::size_t kZ = 3;

  K product_;
  bool adds_;
  std::string activation_;
  Tensor gradient_;  ///< between the two
  TensorView between_;
};

/// Registers the kernel under `name`; `K` is registered for the operator without activation.
template <std::derived_from<TorchKernel> K>
void add_fused(OperatorRegistry& registry, const char* name) {
  const auto plan = [](PlanContext& context) -> std::unique_ptr<Kernel> {
    try {
      return std::make_unique<FusedKernel<K>>(context);
    } catch (...) {
      rethrow(context.who());
    }
  };
  for (const DeviceKind device : kernel_devices()) {
    registry.add_kernel(name, {.domain = "com.microsoft"}, plan, FusedKernel<K>::check, device);
  }
}

}  // namespace d5::torch
