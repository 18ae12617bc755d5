// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/element_type.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

DType element_type(const onnx::Node& node, std::string_view attribute, std::int64_t number) {
  if (number <= 0 || number >= kDTypeCount) {
    throw ValueError(fmt::format("{}: attribute {} is {}, expected an element type in [1, {}]",
                                 onnx::describe(node), attribute, number, kDTypeCount - 1));
  }
  return DType(number);
}

}  // namespace d5::detail
