// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/pooling.hpp"

namespace d5::detail {

std::vector<ValueDesc> Pooling::infer(const InferContext& context) const {
  const Shape& x = context.shape(0);
  const Window window = resolve(context);
  return {TensorDesc{context.dtype(0), window.output_shape(x[0], x[1])}};
}

void Pooling::plan(PlanContext& context) {
  window_ = resolve(context);
  const bool empty = context.input(0).elements() == 0 && context.output(0).elements() == 0;
  planes_ = empty ? 0 : context.shape(0)[0] * context.shape(0)[1];
}

Cost Pooling::cost(const InferContext& context) const {
  Cost cost = Operator::cost(context);
  const Shape& x = context.shape(0);
  const Window window = resolve(context);
  cost.flop =
      double(x[0]) * double(x[1]) * double(window.output_size()) * double(window.kernel_size());
  return cost;
}

Window Pooling::resolve(const InferContext& context) const {
  if (!attributes_) return WindowAttributes::whole(context.shape(0), context.who());
  return attributes_->resolve(context.shape(0), attributes_->kernel(), context.who());
}

}  // namespace d5::detail
