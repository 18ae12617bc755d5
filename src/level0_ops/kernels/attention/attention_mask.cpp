// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/attention/attention_mask.hpp"

#include <fmt/format.h>

#include <array>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

MaskLayout MaskLayout::of(const InferContext& context, std::size_t mask, const AttentionSizes& s,
                          bool pads) {
  const Shape &shape = context.shape(mask), whole = s.scores_shape();
  const std::size_t rank = shape.rank();
  const bool shorter = pads && rank > 0 && shape[rank - 1] < s.total();
  bool fits = rank <= 4;
  std::array<std::int64_t, 4> steps{};
  std::int64_t step = 1;
  for (std::size_t d = 0; d < rank && fits; ++d) {  // from the last dimension
    const std::int64_t own = shape[rank - 1 - d], size = whole[3 - d];
    const bool exact = own == size || (d == 0 && shorter);
    fits = exact || own == 1;
    steps[3 - d] = exact ? step : 0;
    step *= own;
  }
  if (!fits) {
    throw ShapeError(fmt::format("{}: attn_mask is {}, which cannot be broadcast to {}",
                                 context.who(), to_string(shape), to_string(whole)));
  }
  return {.sample = steps[0],
          .head = steps[1],
          .query = steps[2],
          .key = steps[3],
          .width = shorter ? shape[rank - 1] : s.total()};
}

void expect_lengths(std::span<const std::int64_t> lengths, std::int64_t most,
                    const onnx::Node& node) {
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    if (lengths[b] >= 0 && lengths[b] <= most) continue;
    throw ValueError(fmt::format("{}: nonpad_kv_seqlen[{}] is {}, expected 0 to {}",
                                 onnx::describe(node), b, lengths[b], most));
  }
}

}  // namespace d5::detail
