// SPDX-License-Identifier: Apache-2.0
// com.microsoft's EmbedLayerNormalization: the embedding layer of BERT, as written by
// onnxruntime.transformers.
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/expected_shape.hpp"
#include "level0_ops/operator/composed_operator.hpp"

namespace d5::ops {
namespace {

using EmbedLayerNormalizationView = onnx::nodes::microsoft::EmbedLayerNormalization;
using In = EmbedLayerNormalizationView::In;
using Out = EmbedLayerNormalizationView::Out;
using detail::Composition;
using detail::Term;

/// y = LayerNormalization(word[id] + position[place] + segment[segment id])
///
/// Shapes: ids B x S, position_ids B x S or 1 x S; embeddings are rows of H; y and the sum B x S x
/// H, mask_index B, the number of unmasked tokens; zeros without a mask. Source: Devlin et al.,
/// "BERT" (2019).
class EmbedLayerNormalization final : public detail::ComposedOperator {
 public:
  explicit EmbedLayerNormalization(const EmbedLayerNormalizationView& view)
      : epsilon_(view.epsilon()) {}
  Places gradients() const override {
    return {In::word_embedding, In::position_embedding, In::segment_embedding, In::gamma, In::beta};
  }

 protected:
  void compose(Composition& c) const override {
    const Shape ids = c.context().shape(In::input_ids);
    if (ids.rank() != 2) {
      throw ShapeError(fmt::format("{}: input_ids is {}, expected batch x length",
                                   c.context().who(), to_string(ids)));
    }
    for (const std::size_t i : {In::segment_ids, In::mask}) {
      detail::expect_shape(c.context(), i, i == In::mask ? "mask" : "segment_ids", ids);
    }
    Term sum = c.add("Gather", {c.input(In::word_embedding), c.input(In::input_ids)});
    sum = c.add("Add", {sum, positions(c, ids[1])});
    if (const Term segments = c.input(In::segment_ids)) {
      sum = c.add("Add", {sum, c.add("Gather", {c.input(In::segment_embedding), segments})});
    }
    c.output(Out::output, c.add("LayerNormalization", {sum, c.input(In::gamma), c.input(In::beta)},
                                {{"epsilon", epsilon_}}));
    c.output(Out::mask_index, lengths(c, ids[0]));
    c.output(Out::embedding_sum, sum);
  }

 private:
  static Term positions(Composition& c, std::int64_t length) {
    const Term table = c.input(In::position_embedding);
    if (const Term places = c.input(In::position_ids)) return c.add("Gather", {table, places});
    if (c.shape(table).rank() != 2 || c.shape(table)[0] < length) {
      throw ShapeError(fmt::format("{}: position_embedding is {}, expected {} rows or more",
                                   c.context().who(), to_string(c.shape(table)), length));
    }
    return c.add("Slice", {table, c.integers({0}), c.integers({length}), c.integers({0})});
  }
  static Term lengths(Composition& c, std::int64_t batch) {
    if (const Term mask = c.input(In::mask)) {
      return c.add("ReduceSum", {mask, c.integers({1})}, {{"keepdims", std::int64_t{0}}});
    }
    return c.add("Identity", {c.constant(Tensor::zeros(DType::int32, {batch}))});
  }

  float epsilon_;
};

}  // namespace

void register_embed_layer_normalization(OperatorRegistry& registry) {
  registry.add<EmbedLayerNormalization, EmbedLayerNormalizationView>();
}

}  // namespace d5::ops
