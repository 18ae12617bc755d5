// SPDX-License-Identifier: Apache-2.0
// Sums of products over named indices, and determinants.
#include <ATen/ops/einsum.h>
#include <ATen/ops/linalg_det.h>

#include "d5/onnx/nodes.hpp"
#include "torch_kernel.hpp"

namespace d5::torch {
namespace {

namespace nodes = onnx::nodes;

class Einsum final : public TorchKernel {
 public:
  explicit Einsum(const PlanContext& context)
      : TorchKernel(context), equation_(nodes::Einsum(node()).equation()) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    results[0] = at::einsum(equation_, at::TensorList(inputs.data(), inputs.size()));
  }

 private:
  std::string equation_;
};

class Det final : public TorchKernel {
 public:
  using TorchKernel::TorchKernel;

  void call(Inputs inputs, Results results, const Random&) const override {
    results[0] = at::linalg_det(widened(inputs[0])).to(inputs[0].scalar_type());
  }
};

}  // namespace

void register_algebra(OperatorRegistry& registry) {
  add<Einsum, nodes::Einsum>(registry, computes);
  add<Det, nodes::Det>(registry, computes);
}

}  // namespace d5::torch
