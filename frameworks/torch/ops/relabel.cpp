// SPDX-License-Identifier: Apache-2.0
// Operators that change only the shape: bytes are copied, or not even that if the output shares the
// input's memory.
#include <cstring>

#include "d5/onnx/nodes.hpp"
#include "torch_kernel.hpp"

namespace d5::torch {
namespace {

namespace nodes = onnx::nodes;

/// Copies the elements, unless they lie in place already.
void copy_elements(const Tensor& from, Tensor& to) {
  if (from.raw() == to.raw() || from.bytes() == 0) return;
  if (from.device() == Device{}) {
    std::memcpy(to.raw(), from.raw(), from.bytes());
  } else {
    wrap(to).copy_(wrap(from).view(sizes_of(to.shape())));
  }
}

class Relabel final : public TorchKernel {
 public:
  explicit Relabel(const PlanContext& context)
      : TorchKernel(context), sizes_(sizes_of(context.output(0).shape).vec()) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    results[0] = inputs[0].reshape(sizes_);
  }
  KernelTraits traits() const override {
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {}, .in_place_output = 0};
  }

 protected:
  void run(OpContext& context) override { copy_elements(context.input(0), context.output(0)); }
  void differentiate(GradContext& context) override {
    copy_elements(context.grad_output(0), context.grad_input(0));
  }

 private:
  Sizes sizes_;
};

}  // namespace

void register_relabel(OperatorRegistry& registry) {
  add<Relabel, nodes::Reshape>(registry, converts);
  add<Relabel, nodes::Flatten>(registry, converts);
  add<Relabel, nodes::Squeeze>(registry, converts);
  add<Relabel, nodes::Unsqueeze>(registry, converts);
  add<Relabel, nodes::Identity>(registry, converts);
}

}  // namespace d5::torch
