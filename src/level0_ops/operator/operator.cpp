// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/operator/operator.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"

namespace d5 {

Cost Operator::bytes_only(const InferContext& context) const {
  Cost result;
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    if (context.has_input(i) && context.value(i).is_static()) {
      result.bytes_read += double(context.input(i).bytes());
    }
  }
  const auto outputs = infer(context);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (context.wants_output(k) && outputs[k].is_static()) {
      result.bytes_written += double(outputs[k].tensor.bytes());
    }
  }
  return result;
}

Cost Operator::with_flop(const InferContext& context, double flop) const {
  Cost result = bytes_only(context);
  result.flop = flop;
  return result;
}

Cost Operator::bilinear_gradient_cost(const InferContext& context, Places wanted) const {
  const TensorDesc y = infer(context)[0].tensor;
  const double sums = context.has_input(2) ? double(y.elements()) : 0;
  const double product = cost(context).flop - sums;
  Cost result{.bytes_read = double(y.bytes())};
  for (const std::size_t factor : {0, 1}) {
    if (!wanted.contains(factor)) continue;
    result.flop += product;
    result.bytes_read += double(context.input(1 - factor).bytes());
    result.bytes_written += double(context.input(factor).bytes());
  }
  if (context.has_input(2) && wanted.contains(2)) {
    result.flop += sums;
    result.bytes_written += double(context.input(2).bytes());
  }
  return result;
}

Cost ElementwiseOperator::cost(const InferContext& context) const {
  const auto outputs = infer(context);
  const bool known = !outputs.empty() && outputs[0].is_static();
  return with_flop(context, known ? flop_per_element() * double(outputs[0].tensor.elements()) : 0);
}

}  // namespace d5
