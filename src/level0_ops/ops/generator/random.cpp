// SPDX-License-Identifier: Apache-2.0
// RandomNormal, RandomUniform, RandomNormalLike and RandomUniformLike.
#include <fmt/format.h>

#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/forward_kernel.hpp"
#include "level0_ops/kernels/node_random.hpp"
#include "level0_ops/kernels/output_type.hpp"

namespace d5::ops {
namespace {

namespace nodes = onnx::nodes;

/// mean + scale z, with z of mean 0 and variance 1.
struct Normal {
  double mean, scale;

  template <class View>
  static Normal of(const View& view) {
    return {view.mean(), view.scale()};
  }
  [[nodiscard]] bool is_valid() const { return std::isfinite(mean) && scale >= 0; }
  static constexpr std::string_view kExpected = "a finite mean and a scale of 0 or more";
  double draw(RandomStream& random) const { return mean + scale * random.normal_double(); }
};

/// In [low, high); rounding to the element type may reach high.
struct Uniform {
  double low, high;

  template <class View>
  static Uniform of(const View& view) {
    return {view.low(), view.high()};
  }
  [[nodiscard]] bool is_valid() const { return low <= high && std::isfinite(high - low); }
  static constexpr std::string_view kExpected = "finite bounds, low not above high";
  double draw(RandomStream& random) const { return low + (high - low) * random.uniform_double(); }
};

/// Shapes: y as the attribute, or as the input of the "Like" operators.
template <class Distribution>
class RandomTensor final : public ElementwiseOperator {
 public:
  template <class View>
  explicit RandomTensor(const View& view)
      : distribution_(Distribution::of(view)), seed_(view.seed()) {
    const onnx::Node& node = view.node();
    if constexpr (requires { view.shape(); }) {
      shape_ = Shape(view.shape());
      type_ = detail::output_type(node, "dtype", view.dtype());
      for (const std::int64_t dim : shape_) {
        if (dim >= 0) continue;
        throw ValueError(
            fmt::format("{}: shape holds {}, expected 0 or more", onnx::describe(node), dim));
      }
    } else if (view.dtype()) {
      type_ = detail::output_type(node, "dtype", *view.dtype());
    }
    if (!distribution_.is_valid()) {
      throw ValueError(
          fmt::format("{}: expected {}", onnx::describe(node), Distribution::kExpected));
    }
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    if (context.input_count() == 0) return {TensorDesc{type_, shape_}};
    const TensorDesc& like = context.input(0);
    if (type_ != DType::undefined) return {TensorDesc{type_, like.shape}};
    return {TensorDesc{
        detail::output_type(context.node(), "the input's type", std::int64_t(like.dtype)),
        like.shape}};
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return kernel_for(FloatTypes{}, context.output(0).dtype, context, [&]<class T>() {
      return detail::forward_kernel([distribution = distribution_, seed = seed_](OpContext& run) {
        RandomStream random = detail::node_random(run, seed);
        for (T& y : run.output(0).span<T>()) y = T(Arithmetic<T>(distribution.draw(random)));
      });
    });
  }

 protected:
  double flop_per_element() const override { return 2; }  // shift and scale

 private:
  Distribution distribution_;
  std::optional<float> seed_;
  DType type_ = DType::undefined;  // undefined: the input's
  Shape shape_;
};

}  // namespace

void register_random(OperatorRegistry& registry) {
  registry.add<RandomTensor<Normal>, nodes::RandomNormal>();
  registry.add<RandomTensor<Normal>, nodes::RandomNormalLike>();
  registry.add<RandomTensor<Uniform>, nodes::RandomUniform>();
  registry.add<RandomTensor<Uniform>, nodes::RandomUniformLike>();
}

}  // namespace d5::ops
