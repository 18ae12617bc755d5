// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "bindings.hpp"
#include "core/dtype_name.hpp"
#include "d5/level2_training/data/dataset.hpp"

namespace d5::python {

/// Type and shape as Python gives them: ("float32", [3, -1]).
using TypeAndShape = std::pair<DTypeName, std::vector<std::int64_t>>;
[[nodiscard]] TypeAndShape words_of(const TensorDesc& desc);
/// Throws: NotFound for an unknown type.
[[nodiscard]] TensorDesc desc_of(const TypeAndShape& words);

/// Reads a dict by name. Throws: what casting throws.
[[nodiscard]] py::dict words_of(const std::vector<Dataset::Field>& fields);
[[nodiscard]] std::vector<Dataset::Field> fields_of(const py::dict& words);

}  // namespace d5::python
