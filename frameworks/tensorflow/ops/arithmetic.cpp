// SPDX-License-Identifier: Apache-2.0
// Functions of two or more tensors with broadcasting.
#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "translators.hpp"

namespace d5::tensorflow {
namespace {

namespace nodes = onnx::nodes;

/// The second operand. Before opset 7, the attribute `axis` may give the dimension of the first
/// operand at which its own dimensions begin.
Term second(const PlanContext& context, Graph& graph, const Terms& inputs) {
  const auto* axis = context.node().attribute<std::int64_t>("axis");
  if (context.node().opset >= 7 || !axis || context.shape(0) == context.shape(1)) return inputs[1];
  const std::size_t rank = context.shape(0).rank();
  Sizes sizes(context.shape(1).begin(), context.shape(1).end());
  sizes.resize(rank - normalize_axis(*axis, rank, context.who()), 1);
  return graph.reshaped(inputs[1], Shape(sizes));
}

/// `integers`: the operation for integers, if it differs.
template <class View>
void add_binary(Translators& translators, const char* type, const char* integers = nullptr) {
  translators.add<View>(
      [type, integers](const PlanContext& context, Graph& graph, const Terms& inputs) -> Terms {
        const bool other = integers && !is_floating_point(context.dtype(0));
        return {graph.elementwise(other ? integers : type,
                                  {inputs[0], second(context, graph, inputs)})};
      });
}

/// All inputs, one after another.
Term chain(Graph& graph, const char* type, const Terms& inputs) {
  Term y = inputs[0];
  for (std::size_t i = 1; i < inputs.size(); ++i) y = graph.elementwise(type, {y, inputs[i]});
  return inputs.size() > 1 ? y : graph.elementwise("Identity", {y});
}

template <class View>
void add_variadic(Translators& translators, const char* type) {
  translators.add<View>([type](const PlanContext&, Graph& graph, const Terms& inputs) -> Terms {
    return {chain(graph, type, inputs)};
  });
}

Terms mean(const PlanContext&, Graph& graph, const Terms& inputs) {
  const Term sum = chain(graph, "AddV2", inputs);
  return {graph.elementwise("RealDiv", {sum, graph.number(double(inputs.size()), sum)})};
}

/// The result has the base's type, whatever the exponent's type.
Terms power(const PlanContext& context, Graph& graph, const Terms& inputs) {
  const DType base = context.dtype(0), exponent = context.dtype(1);
  const bool exact = !is_floating_point(base) && is_floating_point(exponent);
  const DType type = exact ? DType::float64 : base;
  const Term y = graph.elementwise(
      "Pow", {graph.cast(inputs[0], type), graph.cast(second(context, graph, inputs), type)});
  return {graph.cast(y, base)};
}

Terms modulo(const PlanContext& context, Graph& graph, const Terms& inputs) {
  const bool truncates = nodes::Mod(context.node()).fmod() != 0;
  if (!truncates && is_floating_point(context.dtype(0))) {
    throw Unsupported(context.who() + ": TensorFlow's FloorMod of reals has no signed zeros");
  }
  return {graph.elementwise(truncates ? "TruncateMod" : "FloorMod", inputs)};
}

/// Shifts by less than the number of bits; TensorFlow clamps larger shifts, ONNX shifts all bits
/// out.
Terms bit_shift(const PlanContext& context, Graph& graph, const Terms& inputs) {
  const bool left = nodes::BitShift(context.node()).direction() == "LEFT";
  const DType dtype = context.dtype(0);
  if (dtype != DType::uint8 && dtype != DType::uint16 && dtype != DType::uint32 &&
      dtype != DType::uint64) {
    throw Unsupported(context.who() + ": TensorFlow shifts signed integers differently");
  }
  const Term y = graph.add(left ? "LeftShift" : "RightShift", {inputs[0], inputs[1]});
  const Term wide = graph.cast(inputs[1], DType::uint64);
  const Term fits = graph.add("Less", {wide, graph.number(double(bits_of(dtype)), wide)});
  return {graph.add("SelectV2", {fits, y, graph.number(0, y)})};
}

Terms where(const PlanContext&, Graph& graph, const Terms& inputs) {
  return {graph.add("SelectV2", {inputs[0], inputs[1], inputs[2]})};
}

}  // namespace

void register_arithmetic(Translators& translators) {
  add_binary<nodes::Add>(translators, "AddV2");
  add_binary<nodes::Sub>(translators, "Sub");
  add_binary<nodes::Mul>(translators, "Mul");
  add_binary<nodes::Div>(translators, "RealDiv", "TruncateDiv");
  add_binary<nodes::Equal>(translators, "Equal");
  add_binary<nodes::Less>(translators, "Less");
  add_binary<nodes::LessOrEqual>(translators, "LessEqual");
  add_binary<nodes::Greater>(translators, "Greater");
  add_binary<nodes::GreaterOrEqual>(translators, "GreaterEqual");
  add_binary<nodes::And>(translators, "LogicalAnd");
  add_binary<nodes::Or>(translators, "LogicalOr");
  add_binary<nodes::Xor>(translators, "NotEqual");
  add_binary<nodes::BitwiseAnd>(translators, "BitwiseAnd");
  add_binary<nodes::BitwiseOr>(translators, "BitwiseOr");
  add_binary<nodes::BitwiseXor>(translators, "BitwiseXor");
  add_variadic<nodes::Sum>(translators, "AddV2");
  add_variadic<nodes::Max>(translators, "Maximum");
  add_variadic<nodes::Min>(translators, "Minimum");
  translators.add<nodes::Mean>(mean);
  translators.add<nodes::Pow>(power);
  translators.add<nodes::Mod>(modulo);
  translators.add<nodes::BitShift>(bit_shift);
  translators.add<nodes::Where>(where);
}

}  // namespace d5::tensorflow
