// SPDX-License-Identifier: Apache-2.0
// com.microsoft's QLinear operators: ONNX operators on quantized numbers, as written by
// onnxruntime.quantization; and QuantizeLinear and DequantizeLinear of that domain.
#include <fmt/format.h>

#include <numeric>
#include <optional>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "d5/onnx/schema.hpp"
#include "level0_ops/kernels/matrix/quantization.hpp"
#include "level0_ops/operator/composed_operator.hpp"

namespace d5::ops {
namespace {

namespace nodes = onnx::nodes::microsoft;
using Attributes = detail::Composition::Attributes;
using detail::Composition;
using detail::Term;

/// Rounding of the quotient by the scale: before the zero point is added, as in ONNX, or after, so
/// that ties round to the even sum.
enum class Rounded { quotient, sum };

/// The ONNX operator of a QLinear operator.
struct Row {
  const char* op_type;
  std::size_t operands;  ///< number of tensors, each with scale and zero point; 0: any number
  Rounded rounded = Rounded::quotient;
};

/// Dequantizes input `i`, which is followed by its scale and its zero point.
Term dequantized(Composition& c, std::size_t i) {
  if (!detail::is_one_number(c.context().shape(i + 1))) {
    throw ShapeError(fmt::format("{}: {} is {}, expected one number", c.context().who(),
                                 onnx::describe_input(c.context().node(), i + 1),
                                 to_string(c.context().shape(i + 1))));
  }
  if (!c.input(i)) return {};
  return c.add("DequantizeLinear", {c.input(i), c.input(i + 1), c.input(i + 2)});
}

/// Moves a dimension.
Term move_dimension(Composition& c, Term x, std::size_t from, std::size_t to) {
  std::vector<std::int64_t> order(c.shape(x).rank());
  std::iota(order.begin(), order.end(), 0);
  const std::int64_t moved = order[from];
  order.erase(order.begin() + std::ptrdiff_t(from));
  order.insert(order.begin() + std::ptrdiff_t(to), moved);
  return c.add("Transpose", {x}, {{"perm", order}});
}

/// Quantizes `y` to 8 bits, rounding the sum with the zero point.
Term rounded_sum(Composition& c, Term y, Term scale, Term zero) {
  const DType dtype = c.context().dtype(0);
  const bool is_signed = dtype == DType::int8;
  Term sum = c.add("Div", {y, scale});
  if (zero) {
    sum = c.add("Add", {sum, c.add("Cast", {zero}, {{"to", std::int64_t(DType::float32)}})});
  }
  const Term low = c.number(is_signed ? -128 : 0, DType::float32);
  const Term high = c.number(is_signed ? 127 : 255, DType::float32);
  const Term within = c.add("Clip", {c.add("Round", {sum}), low, high});
  return c.add("Cast", {within}, {{"to", std::int64_t(dtype)}});
}

/// y = quantized(op(dequantized inputs)). Scales and zero points are scalars.
class QLinear final : public detail::ComposedOperator {
 public:
  QLinear(const onnx::Node& node, const Row& row) : row_(row), attributes_(node.attributes) {
    channels_last_ = take("channels_last") != 0;
    if (const std::int64_t opset = take("opset"); opset > 0 && opset < 13) opset_ = int(opset);
  }

 protected:
  void compose(Composition& c) const override {
    const bool is_list = row_.operands == 0;
    const std::size_t first = is_list ? 2 : 0;
    const std::size_t end = is_list ? c.context().input_count() : 3 * row_.operands;
    if (is_list && (end - first) % 3 != 0) {
      throw ShapeError(
          fmt::format("{}: {} inputs are given, expected two and three for each part: it, "
                      "its scale, its zero point",
                      c.context().who(), end));
    }
    std::vector<Term> operands;
    for (std::size_t i = first; i < end; i += 3) operands.push_back(dequantized(c, i));
    if (channels_last_) operands[0] = move_dimension(c, operands[0], rank(c) - 1, 1);
    Term y = c.add(1, row_.op_type, operands, attributes_, opset_).front();
    if (channels_last_) y = move_dimension(c, y, 1, rank(c) - 1);
    const Term scale = c.input(is_list ? 0 : end), zero = c.input(is_list ? 1 : end + 1);
    if (row_.rounded == Rounded::sum) return c.output(0, rounded_sum(c, y, scale, zero));
    Attributes type;  // from a zero point
    if (!zero) type["output_dtype"] = std::int64_t(c.context().dtype(0));
    c.output(0, c.add("QuantizeLinear", {y, scale, zero}, type));
  }

 private:
  static std::size_t rank(const Composition& c) { return c.context().shape(0).rank(); }
  /// Removes an integer attribute that ONNX's operator lacks; 0 by default.
  std::int64_t take(const char* name) {
    const auto place = attributes_.find(name);
    if (place == attributes_.end()) return 0;
    const std::int64_t value = std::get<std::int64_t>(place->second);
    attributes_.erase(place);
    return value;
  }

  Row row_;
  Attributes attributes_;
  bool channels_last_ = false;
  std::optional<int> opset_;  ///< nothing: the newest
};

template <class View>
void add(OperatorRegistry& registry, const Row& row) {
  registry.add(std::string(View::kName), {.domain = std::string(View::kDomain)},
               [row](const onnx::Node& node) { return std::make_unique<QLinear>(node, row); });
}

/// An ONNX operator under another domain.
template <class View>
void add_alias(OperatorRegistry& registry) {
  registry.add(std::string(View::kName), {.domain = std::string(View::kDomain)},
               [](const onnx::Node& node) {
                 onnx::Node same = node;
                 same.domain.clear();
                 same.opset = onnx::newest_opset("");
                 return operator_for(same);
               });
}

}  // namespace

void register_qlinear(OperatorRegistry& registry) {
  add<nodes::QLinearAdd>(registry, {"Add", 2});
  add<nodes::QLinearMul>(registry, {"Mul", 2});
  add<nodes::QLinearSigmoid>(registry, {"Sigmoid", 1});
  add<nodes::QLinearLeakyRelu>(registry, {"LeakyRelu", 1});
  add<nodes::QLinearSoftmax>(registry, {"Softmax", 1});
  add<nodes::QLinearAveragePool>(registry, {"AveragePool", 1, Rounded::sum});
  add<nodes::QLinearGlobalAveragePool>(registry, {"GlobalAveragePool", 1});
  add<nodes::QLinearConcat>(registry, {"Concat", 0});
  add_alias<nodes::QuantizeLinear>(registry);
  add_alias<nodes::DequantizeLinear>(registry);
}

}  // namespace d5::ops
