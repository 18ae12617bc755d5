// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/attention/attention_sizes.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

/// Dimensions of Q, K or V.
struct Heads {
  std::int64_t batch, count, rows, size;
};

Heads packed(const InferContext& context, std::size_t i, std::string_view attribute,
             std::optional<std::int64_t> count) {
  const Shape& x = context.shape(i);
  if (!count || *count < 1 || x[2] % *count != 0) {
    throw ValueError(fmt::format(
        "{}: {} is {}, expected a number that divides the last dimension of input {}, which is {}",
        context.who(), attribute, count ? std::to_string(*count) : "missing", i, to_string(x)));
  }
  return {x[0], *count, x[1], x[2] / *count};
}

Heads unpacked(const Shape& x) { return {x[0], x[1], x[2], x[3]}; }

}  // namespace

AttentionSizes attention_sizes(const InferContext& context, PackedHeads heads) {
  const Shape &q_shape = context.shape(0), &k_shape = context.shape(1), &v_shape = context.shape(2);
  const std::size_t rank = q_shape.rank();
  const auto refuse = [&](std::string_view expected) {
    return ShapeError(fmt::format("{}: Q is {}, K is {}, V is {}; {}", context.who(),
                                  to_string(q_shape), to_string(k_shape), to_string(v_shape),
                                  expected));
  };
  if ((rank != 3 && rank != 4) || k_shape.rank() != rank || v_shape.rank() != rank) {
    throw refuse("expected three dimensions each, or four each");
  }
  const bool is_packed = rank == 3;
  const Heads q = is_packed ? packed(context, 0, "q_num_heads", heads.query) : unpacked(q_shape);
  const Heads k =
      is_packed ? packed(context, 1, "kv_num_heads", heads.key_value) : unpacked(k_shape);
  const Heads v =
      is_packed ? packed(context, 2, "kv_num_heads", heads.key_value) : unpacked(v_shape);
  if (k.batch != q.batch || v.batch != q.batch) throw refuse("the batches must agree");
  if (k.size != q.size) throw refuse("a head of K must be as wide as one of Q");
  if (v.rows != k.rows) throw refuse("K and V must have equally many rows");
  if (v.count != k.count) throw refuse("K and V must have equally many heads");
  if (k.count == 0 ? q.count != 0 : q.count % k.count != 0) {
    throw refuse("the heads of K must divide those of Q");
  }
  return {.batch = q.batch,
          .q_heads = q.count,
          .kv_heads = k.count,
          .queries = q.rows,
          .keys = k.rows,
          .size = q.size,
          .value_size = v.size,
          .packed = is_packed};
}

}  // namespace d5::detail
