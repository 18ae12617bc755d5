// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/convolution.hpp"

#include <fmt/format.h>

#include "d5/core/error.hpp"

namespace d5::detail {

void Convolution::check_group(const onnx::Node& node) const {
  if (group_ >= 1) return;
  throw ValueError(
      fmt::format("{}: group is {}, expected 1 or more", onnx::describe(node), group_));
}

void Convolution::check_inputs(const InferContext& context, std::int64_t filters) {
  const Shape &x = context.shape(0), &w = context.shape(1);
  if (w.rank() != x.rank() || x.rank() < 3 || x.rank() > 5) {
    throw ShapeError(fmt::format("{}: X is {} and W is {}, expected equal ranks of 3 to 5",
                                 context.who(), to_string(x), to_string(w)));
  }
  if (context.has_input(2) && context.shape(2) != Shape{filters}) {
    throw ShapeError(fmt::format("{}: B is {}, expected {}, one a filter", context.who(),
                                 to_string(context.shape(2)), filters));
  }
}

std::vector<std::int64_t> Convolution::kernel(const InferContext& context) const {
  const Shape& w = context.shape(1);
  const std::vector<std::int64_t> sizes(w.begin() + 2, w.end());
  if (attributes_.kernel().empty() || attributes_.kernel() == sizes) return sizes;
  throw ShapeError(fmt::format("{}: kernel_shape is {} but W is {}", context.who(),
                               to_string(Shape(attributes_.kernel())), to_string(w)));
}

Cost Convolution::cost(const InferContext& context) const {
  const ConvolutionSizes s = sizes(context);
  const double products = double(s.batch) * double(s.group) * double(s.channels) *
                          double(s.filters) * double(s.window.kernel_size()) *
                          double(s.window.output_size());
  const double sums = context.has_input(2) ? double(infer(context)[0].tensor.elements()) : 0;
  return with_flop(context, 2 * products + sums);
}

}  // namespace d5::detail
