// SPDX-License-Identifier: Apache-2.0
// Equal, Greater, Less, GreaterOrEqual, LessOrEqual: elementwise comparisons.
#include <string>

#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/elementwise/binary.hpp"

namespace d5::ops {
namespace {

using detail::add_binary;
namespace nodes = onnx::nodes;

struct Equal {
  using Types = Join<NumberTypes, d5::Types<bool, std::string>>;
  using Result = bool;
  template <class T>
  bool value(const T& a, const T& b) const {
    return a == b;
  }
};
struct Greater {
  using Types = NumberTypes;
  using Result = bool;
  template <class T>
  bool value(T a, T b) const {
    return a > b;
  }
};
struct Less {
  using Types = NumberTypes;
  using Result = bool;
  template <class T>
  bool value(T a, T b) const {
    return a < b;
  }
};
struct GreaterOrEqual {
  using Types = NumberTypes;
  using Result = bool;
  template <class T>
  bool value(T a, T b) const {
    return a >= b;
  }
};
struct LessOrEqual {
  using Types = NumberTypes;
  using Result = bool;
  template <class T>
  bool value(T a, T b) const {
    return a <= b;
  }
};

}  // namespace

void register_comparison(OperatorRegistry& registry) {
  add_binary<Equal, nodes::Equal>(registry);
  add_binary<Greater, nodes::Greater>(registry);
  add_binary<Less, nodes::Less>(registry);
  add_binary<GreaterOrEqual, nodes::GreaterOrEqual>(registry);
  add_binary<LessOrEqual, nodes::LessOrEqual>(registry);
}

}  // namespace d5::ops
