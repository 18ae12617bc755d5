// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/tensor/value.hpp"

namespace d5::detail {

/// The numbers of the tensor `name` of an answer or a data set, of any real type.
/// Throws: NotFound where `values` has none of that name, `who` has it not; TypeError.
[[nodiscard]] std::vector<double> judged_numbers(const std::string& name, const ValueMap& values,
                                                 const std::string& measure,
                                                 const std::string& who);
/// Its shape. Throws: as above.
[[nodiscard]] const Tensor& judged_tensor(const std::string& name, const ValueMap& values,
                                          const std::string& measure, const std::string& who);

/// "boxes, label"; "nothing" if there are none.
[[nodiscard]] std::string value_names(const ValueMap& values);

}  // namespace d5::detail
