// SPDX-License-Identifier: Apache-2.0
// NonZero: where the elements are that are not zero. Only the data knows how many there are.
#include <string>

#include "d5/level0_ops/operator_registry.hpp"

namespace d5::ops {
namespace {

using TestedTypes = Join<NumberTypes, Types<bool, std::string>>;

/// Shapes: y is [rank of x, number of non-zero elements]; a column is an element's coordinates.
class NonZero final : public Operator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {TensorDesc{DType::int64, {std::int64_t(context.shape(0).rank()), kUnknownDim}}};
  }

  void forward(OpContext& context) override {
    const Tensor& x = context.input(0);
    dispatch(TestedTypes{}, x.dtype(), "NonZero", [&]<class T>() {
      const T* from = x.data<T>();
      const auto holds = [from](std::int64_t i) {
        if constexpr (std::is_same_v<T, std::string>) {
          return !from[i].empty();
        } else {
          return Arithmetic<T>(from[i]) != Arithmetic<T>(0);
        }
      };
      std::int64_t found = 0;
      for (std::int64_t i = 0; i < x.elements(); ++i) found += holds(i);
      const auto rank = std::int64_t(x.shape().rank());
      std::int64_t* y =
          context.allocate(0, {DType::int64, Shape{rank, found}}).template data<std::int64_t>();
      std::int64_t column = 0;
      for (std::int64_t i = 0; i < x.elements(); ++i) {
        if (!holds(i)) continue;
        std::int64_t rest = i;
        for (std::int64_t d = rank; d-- > 0;) {
          y[d * found + column] = rest % x.shape()[std::size_t(d)];
          rest /= x.shape()[std::size_t(d)];
        }
        ++column;
      }
    });
  }
};

}  // namespace

void register_non_zero(OperatorRegistry& registry) {
  registry.add<NonZero>("NonZero", {.since = 9});
}

}  // namespace d5::ops
