// SPDX-License-Identifier: Apache-2.0
#include "in_place.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"

namespace d5::python {

void expect_in_place(const py::handle& answer, const std::string& who, const std::string& how) {
  if (answer.is_none()) return;
  const std::string given(py::str(py::type::of(answer).attr("__name__")));
  throw TypeError(
      fmt::format("{} returned an object of type {}, which is not used; it writes in place: {}",
                  who, given, how));
}

void expect_in_place(const py::handle& answer, const py::handle& self, const std::string& method,
                     const std::string& how) {
  if (answer.is_none()) return;
  const std::string name(py::str(py::type::of(self).attr("__name__")));
  expect_in_place(answer, fmt::format("{}.{}", name, method), how);
}

void expect_unread(const py::handle& answer, const py::handle& self, const std::string& hook) {
  if (answer.is_none()) return;
  const bool never_ran = PyGen_Check(answer.ptr()) || PyCoro_CheckExact(answer.ptr()) ||
                         PyAsyncGen_CheckExact(answer.ptr());
  if (!never_ran && !py::isinstance<py::bool_>(answer)) return;
  const std::string name(py::str(py::type::of(self).attr("__name__")));
  if (!never_ran) {
    throw TypeError(
        fmt::format("{}.{}() returned {}, which is not used; wants_stop() ends a training, and "
                    "end_run() of an executor a run",
                    name, hook, shown(answer)));
  }
  throw TypeError(fmt::format("{}.{}() returned a {}, which nothing runs; write it without {}",
                              name, hook,
                              std::string(py::str(py::type::of(answer).attr("__name__"))),
                              PyGen_Check(answer.ptr()) ? "yield" : "async"));
}

}  // namespace d5::python
