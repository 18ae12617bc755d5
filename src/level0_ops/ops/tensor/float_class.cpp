// SPDX-License-Identifier: Apache-2.0
// IsNaN and IsInf: whether an element is a special number.
#include <cmath>

#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/elementwise/unary.hpp"

namespace d5::ops {
namespace {

namespace nodes = onnx::nodes;
using TestedTypes = Join<FloatTypes, Float8Types>;

struct IsNaN {
  using Types = TestedTypes;
  using Result = bool;
  template <class T>
  bool value(T x) const {
    return std::isnan(x);
  }
};

struct IsInf {
  using Types = TestedTypes;
  using Result = bool;
  explicit IsInf(const nodes::IsInf& view)
      : negative(view.detect_negative() != 0), positive(view.detect_positive() != 0) {}
  template <class T>
  bool value(T x) const {
    return std::isinf(x) && (x < 0 ? negative : positive);
  }
  bool negative, positive;
};

}  // namespace

void register_float_class(OperatorRegistry& registry) {
  detail::add_unary<IsNaN, nodes::IsNaN>(registry);
  detail::add_unary<IsInf, nodes::IsInf>(registry);
}

}  // namespace d5::ops
