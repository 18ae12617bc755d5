// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string_view>

#include "d5/level0_ops/infer_context.hpp"

namespace d5::detail {

/// Throws: TypeError unless every input that is there has the element type of input 0. `names` are
/// those of the inputs, in order.
void expect_one_type(const InferContext& context, std::initializer_list<std::string_view> names);

}  // namespace d5::detail
