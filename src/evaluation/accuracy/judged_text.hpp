// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/core/tensor/value.hpp"

namespace d5::detail {

/// The one text `name` of an answer or a data set. Throws: NotFound, TypeError, ShapeError, with
/// `who` has it.
[[nodiscard]] const std::string& judged_text(const std::string& name, const ValueMap& values,
                                             const std::string& measure, const std::string& who);

}  // namespace d5::detail
