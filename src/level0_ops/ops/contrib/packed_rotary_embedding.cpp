// SPDX-License-Identifier: Apache-2.0
// com.microsoft's RotaryEmbedding: ONNX's, with another specification of the number of heads and of
// positions.
#include <fmt/format.h>

#include <numeric>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/expected_shape.hpp"
#include "level0_ops/operator/composed_operator.hpp"

namespace d5::ops {
namespace {

using View = onnx::nodes::microsoft::RotaryEmbedding;
using In = View::In;
using detail::Composition;
using detail::Term;

/// Shapes: input and output are B x S x (N D) or B x N x S x D; the caches have R / 2 columns for
/// the R rotated elements of a head, all D if `rotary_embedding_dim` is 0; position_ids is B x S,
/// or one number, the position of the first of S consecutive tokens.
class PackedRotaryEmbedding final : public detail::ComposedOperator {
 public:
  explicit PackedRotaryEmbedding(const View& view)
      : heads_(view.num_heads().value_or(0)),
        turned_(view.rotary_embedding_dim().value_or(0)),
        interleaved_(view.interleaved().value_or(0)) {
    if (view.is_packed_batching().value_or(0) == 0) return;
    throw Unsupported(
        fmt::format("{}: it packs samples of several lengths; expected "
                    "is_packed_batching 0, and a batch of one length",
                    onnx::describe(view.node())));
  }
  Places gradients() const override { return {In::input, In::cos_cache, In::sin_cache}; }

 protected:
  void compose(Composition& c) const override {
    const Shape x = c.context().shape(In::input), cache = c.context().shape(In::cos_cache);
    if ((x.rank() != 3 && x.rank() != 4) || cache.rank() != 2) {
      throw ShapeError(
          fmt::format("{}: input is {} and cos_cache is {}, expected three or four "
                      "dimensions, and two",
                      c.context().who(), to_string(x), to_string(cache)));
    }
    Composition::Attributes attributes{{"interleaved", interleaved_},
                                       {"rotary_embedding_dim", turned_}};
    if (x.rank() == 3) attributes["num_heads"] = heads(x[2], 2 * cache[1]);
    const Term places = positions(c, x[0], x.rank() == 3 ? x[1] : x[2]);
    c.output(0, c.add("RotaryEmbedding",
                      {c.input(In::input), c.input(In::cos_cache), c.input(In::sin_cache), places},
                      attributes));
  }

 private:
  /// If whole heads are rotated, the caches determine their size.
  std::int64_t heads(std::int64_t width, std::int64_t turned) const {
    if (heads_ > 0 || turned_ > 0 || turned == 0) return heads_;
    return width / turned;
  }
  static Term positions(Composition& c, std::int64_t batch, std::int64_t length) {
    const Term given = c.input(In::position_ids);
    if (c.shape(given).rank() == 2) return given;
    detail::expect_shape(c.context(), In::position_ids, "position_ids", {1});
    std::vector<std::int64_t> steps(std::size_t(length), 0);
    std::iota(steps.begin(), steps.end(), 0);
    return c.add("Expand", {c.add("Add", {c.integers(steps), given}), c.integers({batch, length})});
  }

  std::int64_t heads_, turned_, interleaved_;
};

}  // namespace

void register_packed_rotary_embedding(OperatorRegistry& registry) {
  registry.add<PackedRotaryEmbedding, View>();
}

}  // namespace d5::ops
