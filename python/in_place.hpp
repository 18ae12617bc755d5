// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bindings.hpp"

namespace d5::python {

/// For methods that write into what they are given, and whose results nobody reads.
/// Throws: TypeError if one returned something: "Momentum.update() returned an ndarray; it writes
/// in place: value[...] = ...".
void expect_in_place(const py::handle& answer, const std::string& who, const std::string& how);
/// The same for a method of a Python object, "update()".
void expect_in_place(const py::handle& answer, const py::handle& self, const std::string& method,
                     const std::string& how);

/// For hooks of observers, whose results nobody reads: "after_batch".
/// Throws: TypeError for a flag, which looks like a request, and for a generator or a coroutine,
/// whose body never ran.
void expect_unread(const py::handle& answer, const py::handle& self, const std::string& hook);

}  // namespace d5::python
