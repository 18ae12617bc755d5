// SPDX-License-Identifier: Apache-2.0
// Cast, CastLike and BitCast, between all element types.
#include <fmt/format.h>

#include <cctype>
#include <cstring>
#include <optional>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/element_type.hpp"
#include "level0_ops/kernels/forward_kernel.hpp"
#include "level0_ops/operator/conversion.hpp"

namespace d5::ops {
namespace {

namespace nodes = onnx::nodes;

/// The gradient is converted back.
class ConversionKernel final : public Kernel {
 public:
  ConversionKernel(const PlanContext& context, const detail::ConversionRules& rules)
      : there_(context.dtype(0), context.output(0).dtype, rules) {
    if (context.wants_backward()) back_.emplace(context.output(0).dtype, context.dtype(0));
  }
  void forward(OpContext& context) override {
    const Tensor& x = context.input(0);
    there_.run(context.output(0).raw(), x.raw(), x.elements());
  }
  void backward(GradContext& context) override {
    const Tensor& dy = context.grad_output(0);
    back_->run(context.grad_input(0).raw(), dy.raw(), dy.elements());
  }
  KernelTraits traits() const override {
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {}};
  }

 private:
  detail::Conversion there_;
  std::optional<detail::Conversion> back_;
};

/// Shapes: y as x.
class CastOperator : public MovingOperator {
 public:
  template <class View>
  explicit CastOperator(const View& view)
      : rules_{.overflow = view.saturate() != 0 ? Overflow::saturate : Overflow::to_infinity,
               .exponent_rounding = rounding(view.node(), view.round_mode())} {}

  Places gradients() const override { return {0}; }
  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return std::make_unique<ConversionKernel>(context, rules_);
  }

 private:
  static detail::ExponentRounding rounding(const onnx::Node& node, const std::string& mode) {
    if (mode == "up") return detail::ExponentRounding::up;
    if (mode == "down") return detail::ExponentRounding::down;
    if (mode == "nearest") return detail::ExponentRounding::nearest;
    throw ValueError(fmt::format("{}: round_mode is {}, expected up, down or nearest",
                                 onnx::describe(node), printable(mode)));
  }

  detail::ConversionRules rules_;
};

class Cast final : public CastOperator {
 public:
  explicit Cast(const nodes::Cast& view) : CastOperator(view), to_(target(view)) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {TensorDesc{to_, context.shape(0)}};
  }

 private:
  /// Until opset 5 the type is a text.
  static DType target(const nodes::Cast& view) {
    if (view.node().opset >= 6) return detail::element_type(view.node(), "to", view.to());
    std::string word = view.to_v1();
    for (char& c : word) c = char(std::tolower(static_cast<unsigned char>(c)));
    return word == "float"    ? DType::float32
           : word == "double" ? DType::float64
                              : dtype_from_name(word);
  }

  DType to_;
};

/// Shapes: any for the second input, of which only the type is used.
class CastLike final : public CastOperator {
 public:
  explicit CastLike(const nodes::CastLike& view) : CastOperator(view) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {TensorDesc{context.dtype(1), context.shape(0)}};
  }
};

/// Reinterprets the bits as another type of the same width.
class BitCast final : public MovingOperator {
 public:
  explicit BitCast(const nodes::BitCast& view)
      : to_(detail::element_type(view.node(), "to", view.to())) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const DType from = context.dtype(0);
    if (from == DType::string || to_ == DType::string || bits_of(from) != bits_of(to_)) {
      throw TypeError(fmt::format("{}: {} cannot be taken as {}; both need the same width",
                                  context.who(), name_of(from), name_of(to_)));
    }
    return {TensorDesc{to_, context.shape(0)}};
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const std::size_t bytes = context.output(0).bytes();
    const auto width = unsigned(bits_of(to_));
    if (width == 8 * size_of(to_)) {
      return detail::forward_kernel([bytes](OpContext& run) {
        if (bytes > 0) std::memcpy(run.output(0).raw(), run.input(0).raw(), bytes);
      });
    }
    // A sub-byte integer is stored sign-extended to a byte.
    const unsigned mask = (1u << width) - 1;
    const unsigned sign = to_ == DType::int4 || to_ == DType::int2 ? 1u << (width - 1) : 0;
    return detail::forward_kernel([bytes, mask, sign](OpContext& run) {
      const auto* x = static_cast<const std::uint8_t*>(run.input(0).raw());
      auto* y = static_cast<std::uint8_t*>(run.output(0).raw());
      for (std::size_t i = 0; i < bytes; ++i) {
        y[i] = std::uint8_t(x[i] & sign ? x[i] | ~mask : x[i] & mask);
      }
    });
  }

 private:
  DType to_;
};

}  // namespace

void register_cast(OperatorRegistry& registry) {
  registry.add<Cast, nodes::Cast>();
  registry.add<CastLike, nodes::CastLike>();
  registry.add<BitCast, nodes::BitCast>();
}

}  // namespace d5::ops
