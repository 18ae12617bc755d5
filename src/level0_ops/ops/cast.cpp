// SPDX-License-Identifier: Apache-2.0
// Cast and CastLike: between all element types.
#include <fmt/format.h>

#include "d5/core/error.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/conversion.hpp"
#include "level0_ops/element_moving.hpp"

namespace d5::ops {
namespace {

namespace nodes = onnx::nodes;

DType element_type(const onnx::Node& node, std::int64_t number) {
  if (number <= 0 || number >= kDTypeCount) {
    throw ValueError(fmt::format("{}: attribute to is {}, expected an element type in [1, {}]",
                                 onnx::describe(node), number, kDTypeCount - 1));
  }
  return DType(number);
}

/// Shapes: y as x.
class Conversion : public Operator {
 public:
  explicit Conversion(detail::ConversionRules rules) : rules_(rules) {}

  void forward(OpContext& context) override {
    detail::convert_elements(context.input(0), context.output(0), rules_);
  }
  /// The gradient is converted back.
  void backward(GradContext& context) override {
    detail::convert_elements(context.grad_output(0), context.grad_input(0), {});
  }
  bool differentiable(std::size_t input) const override { return input == 0; }
  bool backward_needs_input(std::size_t) const override { return false; }
  bool backward_needs_output(std::size_t) const override { return false; }

 protected:
  static detail::ConversionRules rules(const onnx::Node& node, std::int64_t saturate,
                                       const std::string& round_mode) {
    detail::ConversionRules result;
    result.overflow = saturate != 0 ? Overflow::saturate : Overflow::to_infinity;
    if (round_mode == "up") {
      result.exponent_rounding = detail::ExponentRounding::up;
    } else if (round_mode == "down") {
      result.exponent_rounding = detail::ExponentRounding::down;
    } else if (round_mode == "nearest") {
      result.exponent_rounding = detail::ExponentRounding::nearest;
    } else {
      throw ValueError(fmt::format("{}: round_mode is {}, expected up, down or nearest",
                                   onnx::describe(node), printable(round_mode)));
    }
    return result;
  }

 private:
  detail::ConversionRules rules_;
};

class Cast final : public Conversion {
 public:
  explicit Cast(const onnx::Node& node)
      : Conversion(rules(node, nodes::Cast(node).saturate(), nodes::Cast(node).round_mode())),
        to_(target(node)) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {TensorDesc{to_, context.shape(0)}};
  }

 private:
  /// Until opset 5 the type is a word.
  static DType target(const onnx::Node& node) {
    if (node.opset < 6) {
      std::string word = nodes::Cast(node).to_v1();
      for (char& c : word) c = char(std::tolower(static_cast<unsigned char>(c)));
      return word == "float"    ? DType::float32
             : word == "double" ? DType::float64
                                : dtype_from_name(word);
    }
    return element_type(node, nodes::Cast(node).to());
  }

  DType to_;
};

/// Shapes: the second input has any; only its type counts.
class CastLike final : public Conversion {
 public:
  explicit CastLike(const onnx::Node& node)
      : Conversion(
            rules(node, nodes::CastLike(node).saturate(), nodes::CastLike(node).round_mode())) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {TensorDesc{context.dtype(1), context.shape(0)}};
  }
};

/// Bits that an element has in ONNX; narrow ones take a byte each in memory.
unsigned bits_of(DType dtype) {
  switch (dtype) {
    case DType::uint4:
    case DType::int4:
    case DType::float4e2m1:
      return 4;
    case DType::uint2:
    case DType::int2:
      return 2;
    default:
      return unsigned(8 * size_of(dtype));
  }
}

/// The same bits under another type of the same width.
class BitCast final : public Operator {
 public:
  explicit BitCast(const onnx::Node& node) : to_(element_type(node, nodes::BitCast(node).to())) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const DType from = context.dtype(0);
    if (from == DType::string || to_ == DType::string || bits_of(from) != bits_of(to_)) {
      throw TypeError(fmt::format("{}: {} cannot be taken as {}; both need the same width",
                                  context.who(), name_of(from), name_of(to_)));
    }
    return {TensorDesc{to_, context.shape(0)}};
  }

  void forward(OpContext& context) override {
    const Tensor& x = context.input(0);
    Tensor& y = context.output(0);
    detail::copy_elements(y.dtype(), y.raw(), x.raw(), y.elements());
    const unsigned width = bits_of(to_);
    if (width == 8 * size_of(to_)) return;
    // A narrow integer is kept as a number: its sign fills the byte.
    const unsigned mask = (1u << width) - 1;
    const bool spreads_sign = to_ == DType::int4 || to_ == DType::int2;
    auto* bytes = static_cast<std::uint8_t*>(y.raw());
    for (std::int64_t i = 0; i < y.elements(); ++i) {
      const unsigned low = bytes[i] & mask;
      bytes[i] = std::uint8_t(spreads_sign && low >> (width - 1) ? low | ~mask : low);
    }
  }

 private:
  DType to_;
};

}  // namespace

void register_cast(OperatorRegistry& registry) {
  registry.add<Cast>("Cast");
  registry.add<CastLike>("CastLike", {.since = 15});
  registry.add<BitCast>("BitCast", {.since = 26});
}

}  // namespace d5::ops
