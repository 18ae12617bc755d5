// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/lstm_layout.hpp"

#include <fmt/format.h>

#include "d5/core/error.hpp"

namespace d5::detail {

using In = onnx::nodes::LSTM::In;

Shape LstmLayout::output_shape() const {
  return batch_first ? Shape{batch, steps, directions, hidden}
                     : Shape{steps, directions, batch, hidden};
}

Shape LstmLayout::state_shape() const {
  return batch_first ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
}

SampleLengths LstmLayout::lengths(const Tensor* sequence_lens, const onnx::Node& node) const {
  const SampleLengths result{sequence_lens ? sequence_lens->data<std::int32_t>() : nullptr, steps};
  for (std::int64_t b = 0; b < batch; ++b) {
    if (result[b] < 0 || result[b] > steps) {
      throw ValueError(fmt::format("{}: sequence_lens[{}] is {}, expected 0 to {}",
                                   onnx::describe(node), b, result[b], steps));
    }
  }
  return result;
}

LstmAttributes::LstmAttributes(const onnx::nodes::LSTM& view)
    : batch_first_(view.layout() != 0), hidden_size_(view.hidden_size()) {
  const std::string direction = view.direction();
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
    throw ValueError(
        fmt::format("{}: direction is '{}', expected forward, reverse or bidirectional",
                    onnx::describe(view.node()), printable(direction)));
  }
  directions_ = direction == "bidirectional" ? 2 : 1;
  reversed_ = direction == "reverse";
}

LstmLayout LstmAttributes::resolve(const InferContext& context) const {
  const Shape &x = context.shape(In::X), &r = context.shape(In::R);
  if (x.rank() != 3 || r.rank() != 3) {
    throw ShapeError(fmt::format("{}: X is {} and R is {}, expected three dimensions each",
                                 context.who(), to_string(x), to_string(r)));
  }
  const LstmLayout layout{.steps = x[batch_first_ ? 1 : 0],
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
  const auto check = [&](std::size_t i, std::string_view name, const Shape& expected) {
    if (!context.has_input(i)) return;
    if (context.shape(i) != expected) {
      throw ShapeError(fmt::format("{}: {} is {}, expected {}", context.who(), name,
                                   to_string(context.shape(i)), to_string(expected)));
    }
    const DType dtype = i == In::sequence_lens ? DType::int32 : context.dtype(In::X);
    if (context.dtype(i) != dtype) {
      throw TypeError(fmt::format("{}: {} is {}, expected {}", context.who(), name,
                                  name_of(context.dtype(i)), name_of(dtype)));
    }
  };
  const std::int64_t hidden = layout.hidden;
  check(In::W, "W", {directions_, 4 * hidden, layout.inputs});
  check(In::R, "R", {directions_, 4 * hidden, hidden});
  check(In::B, "B", {directions_, 8 * hidden});
  check(In::sequence_lens, "sequence_lens", {layout.batch});
  check(In::initial_h, "initial_h", layout.state_shape());
  check(In::initial_c, "initial_c", layout.state_shape());
  check(In::P, "P", {directions_, 3 * hidden});
  return layout;
}

}  // namespace d5::detail
