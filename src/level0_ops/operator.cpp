// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/operator.hpp"

#include <fmt/format.h>

namespace d5 {

void Operator::backward(GradContext& context) {
  throw Unsupported(fmt::format("{} has no gradient", context.who()));
}

Cost Operator::cost(const InferContext& context) const {
  Cost result;
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    if (context.has_input(i) && context.value(i).is_static()) {
      result.bytes_read += double(context.input(i).bytes());
    }
  }
  for (const auto& output : infer(context)) {
    if (output.is_static()) result.bytes_written += double(output.tensor.bytes());
  }
  return result;
}

}  // namespace d5
