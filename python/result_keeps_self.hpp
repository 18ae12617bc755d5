// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace d5::python {

/// In a binding, in place of `py::keep_alive<0, 1>`: the result keeps the object alive that was
/// called. pybind11 3.1 runs that one after a call that it refuses as well, on no object, and
/// crashes.
struct result_keeps_self {};

}  // namespace d5::python

template <>
struct pybind11::detail::process_attribute<d5::python::result_keeps_self>
    : process_attribute_default<d5::python::result_keeps_self> {
  static void postcall(function_call& call, handle result) {
    const bool refused = result.ptr() == PYBIND11_TRY_NEXT_OVERLOAD;
    if (!refused && result) keep_alive_impl(0, 1, call, result);
  }
};
