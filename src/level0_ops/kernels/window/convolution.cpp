// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/window/convolution.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

void expect_group(std::int64_t group, const onnx::Node& node) {
  if (group >= 1) return;
  throw ValueError(fmt::format("{}: group is {}, expected 1 or more", onnx::describe(node), group));
}

void expect_convolution_ranks(const Shape& x, const Shape& w, std::string_view who) {
  if (w.rank() == x.rank() && x.rank() >= 3 && x.rank() <= 5) return;
  throw ShapeError(fmt::format("{}: X is {} and W is {}, expected equal ranks of 3 to 5", who,
                               to_string(x), to_string(w)));
}

std::vector<std::int64_t> kernel_of(const Shape& w, const WindowAttributes& attributes,
                                    std::string_view who) {
  const std::vector<std::int64_t> sizes(w.begin() + 2, w.end());
  if (attributes.kernel().empty() || attributes.kernel() == sizes) return sizes;
  throw ShapeError(fmt::format("{}: kernel_shape is {} but W is {}", who,
                               to_string(Shape(attributes.kernel())), to_string(w)));
}

ConvolutionSizes convolution_sizes(const Shape& x, const Shape& w,
                                   const WindowAttributes& attributes, std::int64_t group,
                                   std::string_view who) {
  expect_convolution_ranks(x, w, who);
  if (w[1] < 1 || x[1] / w[1] != group || x[1] % w[1] != 0 || w[0] % group != 0) {
    throw ShapeError(fmt::format(
        "{}: X is {}, W is {} and group is {}; X must have group times W's channels, and the "
        "filters must divide into groups",
        who, to_string(x), to_string(w), group));
  }
  return {.batch = x[0],
          .group = group,
          .channels = w[1],
          .filters = w[0] / group,
          .window = attributes.resolve(x, kernel_of(w, attributes, who), who)};
}

double convolution_flop(const ConvolutionSizes& s) {
  return 2.0 * double(s.batch) * double(s.group) * double(s.channels) * double(s.filters) *
         double(s.window.kernel_size()) * double(s.window.output_size());
}

void Convolution::check_inputs(const InferContext& context, std::int64_t filters) {
  expect_convolution_ranks(context.shape(0), context.shape(1), context.who());
  if (context.has_input(2) && context.shape(2) != Shape{filters}) {
    throw ShapeError(fmt::format("{}: B is {}, expected {}, one per filter", context.who(),
                                 to_string(context.shape(2)), filters));
  }
}

Cost Convolution::cost(const InferContext& context) const {
  const double sums = context.has_input(2) ? double(infer(context)[0].tensor.elements()) : 0;
  return with_flop(context, convolution_flop(sizes(context)) + sums);
}

}  // namespace d5::detail
