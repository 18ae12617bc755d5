// SPDX-License-Identifier: Apache-2.0
// com.microsoft's QEmbedLayerNormalization: EmbedLayerNormalization with quantized tables, as
// written by onnxruntime.quantization.
#include <array>
#include <memory>

#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/operator/composed_operator.hpp"

namespace d5::ops {
namespace {

using View = onnx::nodes::microsoft::QEmbedLayerNormalization;
using In = View::In;
using detail::Composition;
using detail::Term;

/// The node with real tables.
onnx::Node of_reals(const onnx::Node& node) {
  onnx::Node result = node;
  result.op_type = "EmbedLayerNormalization";
  result.inputs = {"ids", "segments", "word", "position", "segment", "gamma", "beta", "mask"};
  result.outputs = {"y", "mask_index"};
  return result;
}

/// Shapes: as EmbedLayerNormalization; scales and zero points are one number each.
class QEmbedLayerNormalization final : public detail::ComposedOperator {
 public:
  explicit QEmbedLayerNormalization(const View& view)
      : meaning_(operator_for(of_reals(view.node()))) {}

 protected:
  void compose(Composition& c) const override {
    const auto outputs = c.add(
        2, meaning_, "EmbedLayerNormalization",
        {c.input(In::input_ids), c.input(In::segment_ids), reals(c, In::word_embedding_quant, 0),
         reals(c, In::position_embedding_quant, 1), reals(c, In::segment_embedding, 2),
         reals(c, In::gamma_quant, 3), reals(c, In::beta_quant, 4), c.input(In::mask)});
    c.output(View::Out::layernorm_out, outputs[0]);
    c.output(View::Out::mask_index_out, outputs[1]);
  }

 private:
  /// Dequantizes input `i`, the `table`th table, whose scale and zero point are separate inputs.
  static Term reals(Composition& c, std::size_t i, std::size_t table) {
    if (!c.input(i)) return {};
    return c.add("DequantizeLinear", {c.input(i), c.input(In::word_embedding_scale + table),
                                      c.input(In::word_embedding_zero_point + table)});
  }

  std::shared_ptr<const Operator> meaning_;
};

}  // namespace

void register_q_embed_layer_normalization(OperatorRegistry& registry) {
  registry.add<QEmbedLayerNormalization, View>();
}

}  // namespace d5::ops
