// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/numpy.h>

#include <optional>

#include "bindings.hpp"

namespace d5::python {

/// NumPy's type of an element: its own, or one of the package ml_dtypes, if it is installed.
/// Throws: Unsupported if NumPy has none.
[[nodiscard]] py::dtype numpy_type(DType dtype);
/// Returns nullopt if d5 has no such element type.
[[nodiscard]] std::optional<DType> dtype_of_numpy(const py::dtype& type);

}  // namespace d5::python
