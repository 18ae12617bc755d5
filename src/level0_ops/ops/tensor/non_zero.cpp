// SPDX-License-Identifier: Apache-2.0
// NonZero: indices of nonzero elements, whose number depends on the data.
#include <algorithm>
#include <complex>
#include <string>

#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"

namespace d5::ops {
namespace {

using TestedTypes =
    Join<NumberTypes, Types<bool, std::string, std::complex<float>, std::complex<double>>>;

template <class T>
class NonZeroKernel final : public Kernel {
 public:
  void forward(OpContext& context) override {
    const Tensor& x = context.input(0);
    const T* from = x.data<T>();
    const std::int64_t elements = x.elements(), found = std::count_if(from, from + elements, holds);
    const auto rank = std::int64_t(x.shape().rank());
    std::int64_t* y = context.allocate(0, {DType::int64, Shape{rank, found}}).data<std::int64_t>();
    for (std::int64_t i = 0; i < elements; ++i) {
      if (!holds(from[i])) continue;
      std::int64_t rest = i;
      for (std::int64_t d = rank; d-- > 0;) {
        y[d * found] = rest % x.shape()[std::size_t(d)];
        rest /= x.shape()[std::size_t(d)];
      }
      ++y;
    }
  }

 private:
  static bool holds(const T& x) {
    if constexpr (std::is_same_v<T, std::string>) {
      return !x.empty();
    } else {
      return Arithmetic<T>(x) != Arithmetic<T>(0);
    }
  }
};

/// Shapes: y is [rank of x, number of non-zero elements]; a column is an element's coordinates.
class NonZero final : public MovingOperator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {TensorDesc{DType::int64, {std::int64_t(context.shape(0).rank()), kUnknownDim}}};
  }
  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return kernel_for(TestedTypes{}, context.dtype(0), context,
                      [&]<class T>() { return std::make_unique<NonZeroKernel<T>>(); });
  }
};

}  // namespace

void register_non_zero(OperatorRegistry& registry) {
  registry.add<NonZero, onnx::nodes::NonZero>();
}

}  // namespace d5::ops
