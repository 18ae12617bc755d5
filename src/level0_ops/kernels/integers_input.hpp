// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "d5/level0_ops/infer_context.hpp"

namespace d5::detail {

using Integers = std::vector<std::int64_t>;

/// Integers that an operator takes as an attribute in old opsets and as an input in new ones.
struct IntegersInput {
  bool given = false;
  std::optional<Integers> values;  ///< empty if not given, or not known yet
};
[[nodiscard]] IntegersInput integers_input(const InferContext& context, std::size_t input,
                                           const std::optional<Integers>& attribute);

/// The elements of an int32 or int64 tensor. Throws: TypeError.
[[nodiscard]] Integers integers_of(const Tensor& tensor, std::string_view who);

/// A shape of unknown dimensions, as many as a one-dimensional tensor of shape `list` has elements.
[[nodiscard]] Shape unknown_shape(const Shape& list);

}  // namespace d5::detail
