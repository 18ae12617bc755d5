// SPDX-License-Identifier: Apache-2.0
// StringConcat: texts joined element by element, with broadcasting.
#include <fmt/format.h>

#include <string>

#include "d5/core/error.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "level0_ops/elementwise.hpp"

namespace d5::ops {
namespace {

/// Shapes: X and Y are broadcast to Z.
class StringConcat final : public Operator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    if (context.dtype(0) != DType::string) {
      throw TypeError(fmt::format("{}: input 0 is {}, expected string", context.who(),
                                  name_of(context.dtype(0))));
    }
    detail::expect_same_types(context, 0, 2);
    return {TensorDesc{DType::string, detail::infer_binary_shape(context)}};
  }
  void forward(OpContext& context) override {
    const Tensor &x = context.input(0), &y = context.input(1);
    Tensor& z = context.output(0);
    detail::apply_binary(detail::broadcast_loop(z.shape(), {&x.shape(), &y.shape()}),
                         z.data<std::string>(), x.data<std::string>(), y.data<std::string>(),
                         [](const std::string& a, const std::string& b) { return a + b; });
  }
};

}  // namespace

void register_string_concat(OperatorRegistry& registry) {
  registry.add<StringConcat>("StringConcat", {.since = 20});
}

}  // namespace d5::ops
