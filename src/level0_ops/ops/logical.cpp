// SPDX-License-Identifier: Apache-2.0
// And, Or, Xor, Not on truth values; BitwiseAnd, BitwiseOr, BitwiseXor, BitwiseNot on integers.
#include <fmt/format.h>

#include "d5/core/error.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "level0_ops/elementwise.hpp"

namespace d5::ops {
namespace {

// One byte holds a truth value, 0 or 1: the bitwise functions serve both.
struct AndFunction {
  template <class T>
  static T value(T a, T b) {
    return T(a & b);
  }
};
struct OrFunction {
  template <class T>
  static T value(T a, T b) {
    return T(a | b);
  }
};
struct XorFunction {
  template <class T>
  static T value(T a, T b) {
    return T(a ^ b);
  }
};

enum class Domain { booleans, integers };

template <Domain domain>
void expect_domain(const InferContext& context) {
  const DType type = context.dtype(0);
  if (domain == Domain::booleans ? type != DType::boolean : !is_integer(type)) {
    throw TypeError(fmt::format("{}: input 0 is {}, expected {}", context.who(), name_of(type),
                                domain == Domain::booleans ? "bool" : "integers"));
  }
}

/// Signed integers are combined as the unsigned ones of their size.
template <class F>
void dispatch_bits(DType dtype, F&& f) {
  detail::dispatch_by_size(dtype, [&]<class T>() {
    if constexpr (std::is_integral_v<T>) f.template operator()<T>();
  });
}

/// Shapes: A and B are broadcast to C.
template <Domain domain, class Function>
class BinaryLogic final : public Operator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    expect_domain<domain>(context);
    return {detail::infer_binary(context)};
  }
  void forward(OpContext& context) override {
    const Tensor &a = context.input(0), &b = context.input(1);
    Tensor& c = context.output(0);
    const auto loop = detail::binary_loop(context.node(), c.shape(), a.shape(), b.shape());
    dispatch_bits(c.dtype(), [&]<class T>() {
      detail::apply_binary(loop, static_cast<T*>(c.raw()), static_cast<const T*>(a.raw()),
                           static_cast<const T*>(b.raw()),
                           [](T x, T y) { return Function::value(x, y); });
    });
  }
  int in_place_output() const override { return 0; }
};

/// Shapes: y as x.
template <Domain domain>
class Negation final : public Operator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    expect_domain<domain>(context);
    return {context.input(0)};
  }
  void forward(OpContext& context) override {
    const Tensor& x = context.input(0);
    Tensor& y = context.output(0);
    dispatch_bits(x.dtype(), [&]<class T>() {
      const T* from = static_cast<const T*>(x.raw());
      T* to = static_cast<T*>(y.raw());
      const T flipped = domain == Domain::booleans ? T(1) : T(~T(0));
      for (std::int64_t i = 0; i < x.elements(); ++i) to[i] = T(from[i] ^ flipped);
    });
  }
  int in_place_output() const override { return 0; }
};

}  // namespace

void register_logical(OperatorRegistry& registry) {
  registry.add<BinaryLogic<Domain::booleans, AndFunction>>("And");
  registry.add<BinaryLogic<Domain::booleans, OrFunction>>("Or");
  registry.add<BinaryLogic<Domain::booleans, XorFunction>>("Xor");
  registry.add<Negation<Domain::booleans>>("Not");
  registry.add<BinaryLogic<Domain::integers, AndFunction>>("BitwiseAnd", {.since = 18});
  registry.add<BinaryLogic<Domain::integers, OrFunction>>("BitwiseOr", {.since = 18});
  registry.add<BinaryLogic<Domain::integers, XorFunction>>("BitwiseXor", {.since = 18});
  registry.add<Negation<Domain::integers>>("BitwiseNot", {.since = 18});
}

}  // namespace d5::ops
