// SPDX-License-Identifier: Apache-2.0
// com.microsoft's DynamicQuantizeLSTM: an LSTM with quantized weights, and dynamically quantized
// inputs and states, as written by onnxruntime.quantization.
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "d5/onnx/schema.hpp"
#include "level0_ops/kernels/recurrent/recurrent_operator.hpp"
#include "level0_ops/operator/composed_operator.hpp"

namespace d5::ops {
namespace {

using DynamicQuantizeLstmView = onnx::nodes::microsoft::DynamicQuantizeLSTM;
using In = DynamicQuantizeLstmView::In;
using detail::Composition;
using detail::Term;

/// An LSTM that quantizes the states before their product with R.
struct QuantizedStates : detail::Lstm {
  static void set(const View& view, detail::CellRules& rules) {
    Lstm::set(view, rules);
    rules.quantizes_state = true;
  }
};

std::shared_ptr<const Operator> lstm(onnx::Node node) {
  node.domain.clear();
  node.opset = onnx::newest_opset("");
  return std::make_shared<detail::Recurrent<QuantizedStates>>(detail::Lstm::View(node));
}

/// Dequantizes weights D x K x 4H, with a scale and a zero point per direction or per column, to
/// LSTM's form D x 4H x K.
Term weights(Composition& c, std::size_t weights, std::size_t scale, std::size_t zero) {
  const Shape w = c.context().shape(weights);
  const auto check = [&](std::size_t i) {
    const Shape& given = c.context().shape(i);
    if (w.rank() == 3 && (given == Shape{w[0]} || given == Shape{w[0], w[2]})) return;
    throw ShapeError(fmt::format(
        "{}: {} is {} beside {} of {}; expected one number per direction, or one per column",
        c.context().who(), onnx::describe_input(c.context().node(), i), to_string(given),
        onnx::describe_input(c.context().node(), weights), to_string(w)));
  };
  check(scale);
  check(zero);
  const auto as_column = [&](Term x) {
    return c.add("Reshape", {x, c.integers({w[0], c.shape(x).rank() == 1 ? 1 : w[2], 1})});
  };
  const auto real = [&](Term x) {
    return c.add("Cast", {x}, {{"to", std::int64_t(DType::float32)}});
  };
  const Term turned =
      c.add("Transpose", {c.input(weights)}, {{"perm", std::vector<std::int64_t>{0, 2, 1}}});
  const Term centred = c.add("Sub", {real(turned), as_column(real(c.input(zero)))});
  return c.add("Mul", {centred, as_column(c.input(scale))});
}

/// Shapes: as LSTM, but W is D x I x 4H, R is D x H x 4H.
///
/// DynamicQuantizeLinear quantizes X as a whole, and the states of all samples together before each
/// step. (So does ONNX Runtime on one thread; on several threads, it may quantize groups of samples
/// separately.)
class DynamicQuantizeLstm final : public detail::ComposedOperator {
 public:
  explicit DynamicQuantizeLstm(const DynamicQuantizeLstmView& view) : lstm_(lstm(view.node())) {}

 protected:
  void compose(Composition& c) const override {
    const auto x = c.add(3, "DynamicQuantizeLinear", {c.input(In::X)});
    const std::vector<Term> inputs = {c.add("DequantizeLinear", x),
                                      weights(c, In::W, In::W_scale, In::W_zero_point),
                                      weights(c, In::R, In::R_scale, In::R_zero_point),
                                      c.input(In::B),
                                      c.input(In::sequence_lens),
                                      c.input(In::initial_h),
                                      c.input(In::initial_c),
                                      c.input(In::P)};
    const auto y = c.add(3, lstm_, "LSTM", inputs);
    for (std::size_t k = 0; k < y.size(); ++k) c.output(k, y[k]);
  }

 private:
  std::shared_ptr<const Operator> lstm_;
};

}  // namespace

void register_dynamic_quantize_lstm(OperatorRegistry& registry) {
  registry.add<DynamicQuantizeLstm, DynamicQuantizeLstmView>();
}

}  // namespace d5::ops
