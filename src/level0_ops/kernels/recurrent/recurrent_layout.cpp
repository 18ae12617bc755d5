// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/recurrent/recurrent_layout.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/expected_shape.hpp"

namespace d5::detail {

using In = onnx::nodes::LSTM::In;  // RNN and GRU have the inputs before initial_c

Shape RecurrentLayout::output_shape() const {
  return batch_first ? Shape{batch, steps, directions, hidden}
                     : Shape{steps, directions, batch, hidden};
}

Shape RecurrentLayout::state_shape() const {
  return batch_first ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
}

SampleLengths RecurrentLayout::lengths(const Tensor* sequence_lens, const onnx::Node& node) const {
  const SampleLengths result{sequence_lens ? sequence_lens->data<std::int32_t>() : nullptr, steps};
  for (std::int64_t b = 0; b < batch; ++b) {
    if (result[b] < 0 || result[b] > steps) {
      throw ValueError(fmt::format("{}: sequence_lens[{}] is {}, expected 0 to {}",
                                   onnx::describe(node), b, result[b], steps));
    }
  }
  return result;
}

void RecurrentAttributes::set_direction(const std::string& direction, const onnx::Node& node) {
  // The default of GRU's first version is misspelt.
  const bool forward = direction == "forward" || direction == "foward";
  if (!forward && direction != "reverse" && direction != "bidirectional") {
    throw ValueError(
        fmt::format("{}: direction is '{}', expected forward, reverse or bidirectional",
                    onnx::describe(node), printable(direction)));
  }
  directions_ = direction == "bidirectional" ? 2 : 1;
  reversed_ = direction == "reverse";
}

RecurrentLayout RecurrentAttributes::resolve(const InferContext& context,
                                             std::int64_t gates) const {
  const Shape &x = context.shape(In::X), &r = context.shape(In::R);
  if (x.rank() != 3 || r.rank() != 3) {
    throw ShapeError(fmt::format("{}: X is {} and R is {}, expected three dimensions each",
                                 context.who(), to_string(x), to_string(r)));
  }
  const RecurrentLayout layout{.steps = x[batch_first_ ? 1 : 0],
                               .batch = x[batch_first_ ? 0 : 1],
                               .inputs = x[2],
                               .hidden = r[2],
                               .directions = directions_,
                               .batch_first = batch_first_,
                               .reversed = reversed_};
  if (hidden_size_ && *hidden_size_ != layout.hidden) {
    throw ShapeError(fmt::format("{}: hidden_size is {}, but R is {}", context.who(), *hidden_size_,
                                 to_string(r)));
  }
  const std::int64_t hidden = layout.hidden;
  expect_shape(context, In::W, "W", {directions_, gates * hidden, layout.inputs});
  expect_shape(context, In::R, "R", {directions_, gates * hidden, hidden});
  expect_shape(context, In::B, "B", {directions_, 2 * gates * hidden});
  expect_shape(context, In::sequence_lens, "sequence_lens", {layout.batch});
  expect_shape(context, In::initial_h, "initial_h", layout.state_shape());
  expect_shape(context, In::initial_c, "initial_c", layout.state_shape());
  expect_shape(context, In::P, "P", {directions_, 3 * hidden});
  return layout;
}

}  // namespace d5::detail
