// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/window/pooling.hpp"

namespace d5::detail {

std::vector<ValueDesc> Pooling::infer(const InferContext& context) const {
  const Shape& x = context.shape(0);
  const Window window = resolve(context);
  return {TensorDesc{context.dtype(0), window.output_shape(x[0], x[1])}};
}

PooledPlanes Pooling::planes(const PlanContext& context) const {
  const Shape& x = context.shape(0);
  const bool empty = x.elements() == 0 && context.output(0).elements() == 0;
  return {resolve(context), empty ? 0 : x[0] * x[1]};
}

Cost Pooling::cost(const InferContext& context) const {
  const Shape& x = context.shape(0);
  const Window window = resolve(context);
  return with_flop(context, flop_per_tap() * double(x[0]) * double(x[1]) *
                                double(window.output_size()) * double(window.kernel_size()));
}

Window Pooling::resolve(const InferContext& context) const {
  if (!attributes_) return WindowAttributes::whole(context.shape(0), context.who());
  return attributes_->resolve(context.shape(0), attributes_->kernel(), context.who());
}

}  // namespace d5::detail
