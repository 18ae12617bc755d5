// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <span>

#include "d5/level0_ops/operator/kernel_choice.hpp"

namespace d5 {

/// into += term, both on the host; no effect for types without gradients.
void add_on_host(Tensor& into, const Tensor& term);

/// into += term, for a value with several readers: by a plain loop on the host; on a device by the
/// Add of a framework that has one there, otherwise through the host.
class GradientSum {
 public:
  using Frameworks = std::span<const OperatorRegistry* const>;
  /// `frameworks` are candidates for a kernel on `device`, where both tensors are.
  GradientSum(Tensor& into, const Tensor& term, Device device, Frameworks frameworks);
  GradientSum(const GradientSum&) = delete;
  void run(Stream& stream);

 private:
  void plan_kernel(const TensorDesc& desc, Frameworks frameworks);
  void run_through_host(Stream& stream);

  Tensor& into_;
  const Tensor& term_;
  Device device_;
  // For a sum on a device: a kernel, or memory on the host.
  std::unique_ptr<Operator> op_;
  std::unique_ptr<Kernel> kernel_;
  onnx::Node node_;
  Value into_value_, term_value_;
  std::array<const Value*, 2> inputs_{};
  std::array<Value*, 1> outputs_{};
  OpContext context_;
  Tensor host_into_, host_term_;
};

}  // namespace d5
