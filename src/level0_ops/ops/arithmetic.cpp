// SPDX-License-Identifier: Apache-2.0
// Add, Sub, Mul, Div: one output element from two input elements, with broadcasting.
#include <concepts>
#include <string_view>

#include "d5/level0_ops/operator_registry.hpp"
#include "level0_ops/elementwise.hpp"

namespace d5::ops {
namespace {

/// A type in which integers wrap around instead of overflowing; 64 bits keep the low bits of all.
template <class T>
using Wide = std::conditional_t<std::integral<T>, std::uint64_t, Arithmetic<T>>;

struct AddFunction {
  static constexpr std::string_view kName = "Add";
  static constexpr bool kSlopesReadInputs = false;
  template <class T>
  static T value(T a, T b) {
    return T(Wide<T>(a) + Wide<T>(b));
  }
  template <class T>
  static T slope_a(const T*, const T*) {
    return 1;
  }
  template <class T>
  static T slope_b(const T*, const T*) {
    return 1;
  }
};

struct SubFunction {
  static constexpr std::string_view kName = "Sub";
  static constexpr bool kSlopesReadInputs = false;
  template <class T>
  static T value(T a, T b) {
    return T(Wide<T>(a) - Wide<T>(b));
  }
  template <class T>
  static T slope_a(const T*, const T*) {
    return 1;
  }
  template <class T>
  static T slope_b(const T*, const T*) {
    return -1;
  }
};

struct MulFunction {
  static constexpr std::string_view kName = "Mul";
  static constexpr bool kSlopesReadInputs = true;
  template <class T>
  static T value(T a, T b) {
    return T(Wide<T>(a) * Wide<T>(b));
  }
  template <class T>
  static T slope_a(const T*, const T* b) {
    return *b;
  }
  template <class T>
  static T slope_b(const T* a, const T*) {
    return *a;
  }
};

/// Integers are divided towards zero.
struct DivFunction {
  static constexpr std::string_view kName = "Div";
  static constexpr bool kSlopesReadInputs = true;
  template <class T>
  static T value(T a, T b) {
    if constexpr (std::signed_integral<T>) {
      if (b == T(-1)) return T(Wide<T>(0) - Wide<T>(a));  // the smallest / -1 would trap
      return T(a / b);
    } else if constexpr (std::integral<T>) {
      return T(a / b);
    } else {
      return T(Arithmetic<T>(a) / Arithmetic<T>(b));
    }
  }
  template <class T>
  static T slope_a(const T*, const T* b) {
    return T(1) / *b;
  }
  template <class T>
  static T slope_b(const T* a, const T* b) {
    return -*a / (*b * *b);
  }
};

/// Shapes: A and B are broadcast to C.
template <class Function>
class BinaryArithmetic final : public Operator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {detail::infer_binary(context)};
  }

  void forward(OpContext& context) override {
    const Tensor &a = context.input(0), &b = context.input(1);
    Tensor& c = context.output(0);
    const auto loop = detail::binary_loop(context.node(), c.shape(), a.shape(), b.shape());
    dispatch(NumberTypes{}, c.dtype(), Function::kName, [&]<class T>() {
      if constexpr (std::integral<T> && std::is_same_v<Function, DivFunction>) {
        detail::expect_no_zeros(b.span<T>(), context.node());
      }
      detail::apply_binary(loop, c.data<T>(), a.data<T>(), b.data<T>(),
                           [](T x, T y) { return Function::template value<T>(x, y); });
    });
  }

  void backward(GradContext& context) override {
    dispatch(RealTypes{}, context.grad_output(0).dtype(), Function::kName, [&]<class T>() {
      if (context.wants_grad(0)) {
        accumulate<T>(context, 0, [](const T* a, const T* b) { return Function::slope_a(a, b); });
      }
      if (context.wants_grad(1)) {
        accumulate<T>(context, 1, [](const T* a, const T* b) { return Function::slope_b(a, b); });
      }
    });
  }

  bool differentiable(std::size_t) const override { return true; }
  bool backward_needs_input(std::size_t) const override { return Function::kSlopesReadInputs; }
  bool backward_needs_output(std::size_t) const override { return false; }
  int in_place_output() const override { return 0; }

  Cost cost(const InferContext& context) const override {
    Cost result = Operator::cost(context);
    result.flop = double(infer(context)[0].tensor.elements());
    return result;
  }

 private:
  template <class T, class Slope>
  static void accumulate(GradContext& context, std::size_t which, Slope slope) {
    Tensor& grad = context.grad_input(which);
    const Tensor& grad_out = context.grad_output(0);
    if constexpr (Function::kSlopesReadInputs) {
      const Tensor &a = context.input(0), &b = context.input(1);
      const Shape second = detail::second_operand_shape(context.node(), a.shape(), b.shape());
      const auto loop = detail::broadcast_loop(
          grad_out.shape(), {which == 0 ? &a.shape() : &second, &a.shape(), &second});
      detail::accumulate_gradient<T>(loop, grad, grad_out, a.data<T>(), b.data<T>(), slope);
    } else {
      // The rules of old opsets ask for the first input's shape; there it is the output's.
      const Shape shape =
          which == 0 ? grad.shape()
                     : detail::second_operand_shape(context.node(), grad_out.shape(), grad.shape());
      const auto loop = detail::broadcast_loop(grad_out.shape(), {&shape});
      const T* none = nullptr;
      detail::accumulate_gradient<T>(loop, grad, grad_out, none, none, slope);
    }
  }
};

}  // namespace

void register_arithmetic(OperatorRegistry& registry) {
  registry.add<BinaryArithmetic<AddFunction>>("Add");
  registry.add<BinaryArithmetic<SubFunction>>("Sub");
  registry.add<BinaryArithmetic<MulFunction>>("Mul");
  registry.add<BinaryArithmetic<DivFunction>>("Div");
}

}  // namespace d5::ops
