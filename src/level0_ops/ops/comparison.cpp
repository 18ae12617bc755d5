// SPDX-License-Identifier: Apache-2.0
// Equal, Greater, Less, GreaterOrEqual, LessOrEqual: two elements to a truth value.
#include <string>

#include "d5/level0_ops/operator_registry.hpp"
#include "level0_ops/elementwise.hpp"

namespace d5::ops {
namespace {

using ComparableTypes = Join<NumberTypes, Types<bool>>;

struct EqualFunction {
  using TypeList = Join<ComparableTypes, Types<std::string>>;
  template <class T>
  static bool value(const T& a, const T& b) {
    return a == b;
  }
};
struct GreaterFunction {
  using TypeList = NumberTypes;
  template <class T>
  static bool value(T a, T b) {
    return a > b;
  }
};
struct LessFunction {
  using TypeList = NumberTypes;
  template <class T>
  static bool value(T a, T b) {
    return a < b;
  }
};
struct GreaterOrEqualFunction {
  using TypeList = NumberTypes;
  template <class T>
  static bool value(T a, T b) {
    return a >= b;
  }
};
struct LessOrEqualFunction {
  using TypeList = NumberTypes;
  template <class T>
  static bool value(T a, T b) {
    return a <= b;
  }
};

/// Shapes: A and B are broadcast to C.
template <class Function>
class Comparison final : public Operator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    detail::expect_same_types(context, 0, 2);
    return {TensorDesc{DType::boolean, detail::infer_binary_shape(context)}};
  }

  void forward(OpContext& context) override {
    const Tensor &a = context.input(0), &b = context.input(1);
    Tensor& c = context.output(0);
    const auto loop = detail::binary_loop(context.node(), c.shape(), a.shape(), b.shape());
    dispatch(typename Function::TypeList{}, a.dtype(), context.node().op_type, [&]<class T>() {
      detail::apply_binary(loop, c.data<bool>(), a.data<T>(), b.data<T>(),
                           [](const T& x, const T& y) {
                             if constexpr (std::is_same_v<T, std::string>) {
                               return Function::value(x, y);
                             } else {
                               return Function::value(Arithmetic<T>(x), Arithmetic<T>(y));
                             }
                           });
    });
  }
};

}  // namespace

void register_comparison(OperatorRegistry& registry) {
  registry.add<Comparison<EqualFunction>>("Equal");
  registry.add<Comparison<GreaterFunction>>("Greater");
  registry.add<Comparison<LessFunction>>("Less");
  registry.add<Comparison<GreaterOrEqualFunction>>("GreaterOrEqual", {.since = 12});
  registry.add<Comparison<LessOrEqualFunction>>("LessOrEqual", {.since = 12});
}

}  // namespace d5::ops
