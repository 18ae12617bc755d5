// SPDX-License-Identifier: Apache-2.0
// IsNaN and IsInf: whether an element is a special number.
#include <cmath>

#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"

namespace d5::ops {
namespace {

using TestedTypes = Join<FloatTypes, Float8Types>;

/// Shapes: y as x.
class FloatTest : public Operator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {TensorDesc{DType::boolean, context.shape(0)}};
  }
  void forward(OpContext& context) override {
    const Tensor& x = context.input(0);
    bool* y = context.output(0).data<bool>();
    dispatch(TestedTypes{}, x.dtype(), context.node().op_type, [&]<class T>() {
      const T* from = x.data<T>();
      for (std::int64_t i = 0; i < x.elements(); ++i) y[i] = holds(double(Arithmetic<T>(from[i])));
    });
  }

 private:
  [[nodiscard]] virtual bool holds(double x) const = 0;
};

class IsNaN final : public FloatTest {
  bool holds(double x) const override { return std::isnan(x); }
};

class IsInf final : public FloatTest {
 public:
  explicit IsInf(const onnx::Node& node)
      : negative_(onnx::nodes::IsInf(node).detect_negative() != 0),
        positive_(onnx::nodes::IsInf(node).detect_positive() != 0) {}

 private:
  bool holds(double x) const override { return std::isinf(x) && (x < 0 ? negative_ : positive_); }
  bool negative_, positive_;
};

}  // namespace

void register_float_class(OperatorRegistry& registry) {
  registry.add<IsNaN>("IsNaN", {.since = 9});
  registry.add<IsInf>("IsInf", {.since = 10});
}

}  // namespace d5::ops
