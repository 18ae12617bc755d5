// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones_like.h>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "torch_kernel.hpp"

namespace d5::torch {
namespace {

using DropoutView = onnx::nodes::Dropout;

/// In training, keeps each element with probability 1 - ratio, scaled by 1 / (1 - ratio). Uses
/// torch's random numbers, seeded from d5's stream of the node.
class Dropout final : public TorchKernel {
 public:
  explicit Dropout(PlanContext& context) : TorchKernel(context), saves_(context.wants_backward()) {
    if (saves_) context.save({DType::boolean, context.shape(0)});
  }

  void call(Inputs inputs, Results results, const Random& random) const override {
    const at::Tensor& x = inputs[0];
    const auto given = [&](std::size_t i) {
      return i < inputs.size() && inputs[i].defined() ? &inputs[i] : nullptr;
    };
    const double ratio =
        dropped(given(DropoutView::In::ratio), given(DropoutView::In::training_mode));
    const at::ScalarType mask_type = node().opset < 10 ? x.scalar_type() : at::kBool;
    if (ratio == 0) {
      results[0] = x.clone();
      if (results.size() > 1) results[1] = at::ones_like(x, mask_type);
      return;
    }
    const at::Tensor mask = at::empty_like(x, at::kBool).bernoulli_(1 - ratio, random);
    results[0] = at::mul(x, mask) * (1 / (1 - ratio));
    if (results.size() > 1) results[1] = mask.to(mask_type);
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {DropoutView::In::ratio, DropoutView::In::training_mode},
            .backward_reads_outputs = {}};
  }

 protected:
  void run(OpContext& context) override {
    const double ratio = dropped_in(context);
    const at::Tensor& x = in(context, 0);
    at::Tensor& y = out(context, 0);
    if (ratio == 0) {
      y.copy_(x);
      if (context.wants_output(DropoutView::Out::mask))
        out(context, DropoutView::Out::mask).fill_(true);
      return;
    }
    if (!saves_ && !mask_.defined()) mask_ = at::empty_like(x, at::kBool);
    at::Tensor& mask = saves_ ? saved(context, 0) : mask_;
    generator_.set_current_seed(context.services().random().bits());
    mask.bernoulli_(1 - ratio, generator_);
    at::mul_out(y, x, mask);
    y.mul_(1 / (1 - ratio));
    if (context.wants_output(DropoutView::Out::mask))
      out(context, DropoutView::Out::mask).copy_(mask);
  }

  void differentiate(GradContext& context) override {
    const double ratio = dropped_in(context);
    at::Tensor& dx = grad_in(context, 0);
    const at::Tensor& dy = grad_out(context, 0);
    if (ratio == 0) {
      dx.copy_(dy);
    } else {
      at::mul_out(dx, dy, saved(context, 0));
      dx.mul_(1 / (1 - ratio));
    }
  }

 private:
  /// The share of elements to drop: zero outside of training.
  double dropped(const at::Tensor* ratio, const at::Tensor* training) const {
    const double share = node().opset < 12 ? DropoutView(node()).ratio()
                         : ratio           ? ratio->item().toDouble()
                                           : 0.5;
    if (!(share >= 0 && share < 1)) {
      throw ValueError(onnx::describe(node()) + ": ratio is " + std::to_string(share) +
                       ", expected 0 <= ratio < 1");
    }
    return node().opset >= 12 && training && training->item().toBool() ? share : 0;
  }
  template <class Context>
  double dropped_in(const Context& context) {
    const auto given = [&](std::size_t i) {
      return context.has_input(i) ? &in(context, i) : nullptr;
    };
    return dropped(given(DropoutView::In::ratio), given(DropoutView::In::training_mode));
  }

  bool saves_;
  at::Tensor mask_;  // used if the output is unused
  at::Generator generator_ = make_generator(device());
};

Support drops_by_input(const PlanContext& context) {
  if (context.node().opset < 7 && DropoutView(context.node()).is_test() == 0) {
    return {"Dropout with is_test=0 (opset < 7)"};
  }
  return computes(context);
}

}  // namespace

void register_dropout(OperatorRegistry& registry) {
  add<Dropout, DropoutView>(registry, drops_by_input);
}

}  // namespace d5::torch
