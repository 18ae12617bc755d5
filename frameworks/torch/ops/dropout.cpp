// SPDX-License-Identifier: Apache-2.0
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones_like.h>

#include "d5/onnx/nodes.hpp"
#include "torch_operator.hpp"

namespace d5::torch {
namespace {

/// In training, keeps each element with probability 1 - ratio, scaled by 1 / (1 - ratio).
/// Random numbers are torch's, seeded from d5's stream of the node.
class Dropout final : public TorchOperator {
  using View = onnx::nodes::Dropout;

 public:
  using TorchOperator::TorchOperator;

  void plan(PlanContext& context) override {
    if (context.mode() == Mode::training) context.save({DType::boolean, context.shape(0)});
  }

  Results call(Inputs inputs, const Call& call) const override {
    const at::Tensor& x = inputs[0];
    const double ratio = dropped(inputs);
    if (ratio == 0) return {x.clone(), at::ones_like(x, at::kBool)};
    const at::Tensor mask = at::empty_like(x, at::kBool).bernoulli_(1 - ratio, call.generator);
    return {apply(x, mask, ratio), mask};
  }
  bool backward_needs_input(std::size_t i) const override { return i != View::In::data; }

 protected:
  void run(OpContext& context) override {
    std::vector<at::Tensor> inputs(context.input_count());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (context.has_input(i)) inputs[i] = in(context, i);
    }
    Call call{.mode = context.mode()};
    ratio_ = dropped(inputs);
    if (ratio_ != 0)
      call.generator = at::detail::createCPUGenerator(context.services().random().bits());
    const Results results = this->call(inputs, call);
    out(context, 0).copy_(results[0]);
    if (context.wants_output(1)) out(context, 1).copy_(results[1]);
    if (context.mode() == Mode::training) saved(context, 0).copy_(results[1]);
  }

  void differentiate(GradContext& context) override {
    const at::Tensor& dy = grad_out(context, 0);
    grad_in(context, 0).copy_(ratio_ == 0 ? dy : apply(dy, saved(context, 0), ratio_));
  }

 private:
  static at::Tensor apply(const at::Tensor& x, const at::Tensor& mask, double ratio) {
    return at::mul(x, mask) * (1 / (1 - ratio));
  }
  /// The share of elements to drop: none outside of training.
  double dropped(Inputs inputs) const {
    const auto given = [&](std::size_t i) { return inputs.size() > i && inputs[i].defined(); };
    if (node().opset < 12 || !given(View::In::training_mode)) return 0;
    if (!inputs[View::In::training_mode].item().toBool()) return 0;
    return given(View::In::ratio) ? inputs[View::In::ratio].item().toDouble() : 0.5;
  }

  double ratio_ = 0;  // of the last forward run
};

Support drops_by_input(const onnx::Node& node) {
  if (node.opset < 7 && onnx::nodes::Dropout(node).is_test() == 0)
    return {"Dropout with is_test=0 (opset < 7)"};
  return {};
}

}  // namespace

void register_dropout(OperatorRegistry& registry) {
  add<Dropout>(registry, "Dropout", drops_by_input);
}

}  // namespace d5::torch
