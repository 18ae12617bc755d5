// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/level2_training/data/dataset.hpp"

namespace d5::detail {

/// Fields as JSON: a list of {"name": "image", "dtype": "uint8", "shape": [null, null, 3]}, where
/// null is an open dimension.
[[nodiscard]] std::string to_json(const std::vector<Dataset::Field>& fields);

/// The inverse. `who` begins messages. Throws: FormatError.
[[nodiscard]] std::vector<Dataset::Field> fields_from_json(const std::string& text,
                                                           const std::string& who);

}  // namespace d5::detail
