// SPDX-License-Identifier: Apache-2.0
// HannWindow, HammingWindow and BlackmanWindow: y[n] = a0 - a1 cos(2 pi n / N) + a2 cos(4 pi n /
// N).
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/forward_kernel.hpp"
#include "level0_ops/kernels/output_type.hpp"
#include "level0_ops/operator/conversion.hpp"

namespace d5::ops {
namespace {

namespace nodes = onnx::nodes;

struct Coefficients {
  double a0, a1, a2;
};

/// Shapes: the input is the length of y. N = size - 1 for a symmetric window, N = size for a
/// periodic one. Integers are truncated towards zero. A symmetric window of one point is NaN, 0 /
/// 0, as in ONNX's function.
class CosineWindow final : public ElementwiseOperator {
 public:
  template <class View>
  CosineWindow(const View& view, Coefficients coefficients)
      : coefficients_(coefficients),
        periodic_(view.periodic() != 0),
        type_(detail::output_type(view.node(), "output_datatype", view.output_datatype())) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const auto size = context.integers(0);
    if (size.is_untold()) return {TensorDesc{type_, {kUnknownDim}}};
    if (size.values().size() != 1) {
      throw ShapeError(fmt::format("{}: size has {} elements, expected one", context.who(),
                                   size.values().size()));
    }
    if (size.values()[0] < 0) {
      throw ValueError(
          fmt::format("{}: size is {}, expected 0 or more", context.who(), size.values()[0]));
    }
    return {TensorDesc{type_, {size.values()[0]}}};
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const std::int64_t size = context.output(0).elements();
    context.request_scratch(sizeof(double) * std::size_t(size));
    const detail::Conversion write(DType::float64, type_);
    return detail::forward_kernel(
        [a = coefficients_, size, period = periodic_ ? size : size - 1, write](OpContext& run) {
          double* y = run.scratch_as<double>();
          for (std::int64_t n = 0; n < size; ++n) {
            const double angle = 2 * std::numbers::pi * double(n) / double(period);
            y[n] = a.a0 - a.a1 * std::cos(angle) + a.a2 * std::cos(2 * angle);
          }
          write.run(run.output(0).raw(), y, size);
        });
  }

 protected:
  double flop_per_element() const override { return 7; }  // including two cosines

 private:
  Coefficients coefficients_;
  bool periodic_;
  DType type_;
};

}  // namespace

void register_cosine_window(OperatorRegistry& registry) {
  registry.add<CosineWindow, nodes::HannWindow>(Coefficients{0.5, 0.5, 0});
  registry.add<CosineWindow, nodes::HammingWindow>(Coefficients{25.0 / 46, 21.0 / 46, 0});
  registry.add<CosineWindow, nodes::BlackmanWindow>(Coefficients{0.42, 0.5, 0.08});
}

}  // namespace d5::ops
