// SPDX-License-Identifier: Apache-2.0
// StringConcat: concatenates texts elementwise, with broadcasting.
#include <string>

#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/elementwise/binary.hpp"

namespace d5::ops {
namespace {

struct StringConcat {
  using Types = d5::Types<std::string>;
  std::string value(const std::string& a, const std::string& b) const { return a + b; }
};

}  // namespace

void register_string_concat(OperatorRegistry& registry) {
  detail::add_binary<StringConcat, onnx::nodes::StringConcat>(registry);
}

}  // namespace d5::ops
