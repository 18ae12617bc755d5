// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/one_type.hpp"

#include <fmt/format.h>

#include "d5/core/error.hpp"

namespace d5::detail {

void expect_one_type(const InferContext& context, std::initializer_list<std::string_view> names) {
  const DType expected = context.dtype(0);
  for (std::size_t i = 1; i < names.size(); ++i) {
    if (!context.has_input(i) || context.dtype(i) == expected) continue;
    throw TypeError(fmt::format("{}: {} is {} but {} is {}; they must have one type", context.who(),
                                names.begin()[i], name_of(context.dtype(i)), *names.begin(),
                                name_of(expected)));
  }
}

}  // namespace d5::detail
