// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/numpy.h>

#include <optional>

#include "bindings.hpp"

namespace d5::python {

/// NumPy's type of an element: its own, or one of the package ml_dtypes, if that is installed.
/// Throws: Unsupported where NumPy has none.
[[nodiscard]] py::dtype numpy_type(DType dtype);
/// None where d5 has no such element.
[[nodiscard]] std::optional<DType> dtype_of_numpy(const py::dtype& type);

}  // namespace d5::python
