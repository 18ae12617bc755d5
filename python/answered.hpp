// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <type_traits>

#include "bindings.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::python {

/// A callback's result converted to the C++ type that it needs, if it has that type.
template <class T>
std::optional<T> if_it_fits(const py::handle& answer) {
  bool fits = true;  // false where a cast would convert, as a list of pairs to a dict
  if constexpr (std::is_base_of_v<py::object, T>) fits = py::isinstance<T>(answer);
  try {
    if (fits) return answer.cast<T>();
  } catch (const py::cast_error&) {
  }
  return {};
}

[[noreturn]] inline void throw_answer(const py::handle& answer, const std::string& who,
                                      const char* expected) {
  throw TypeError(fmt::format("{} gave {}, expected {}", who, shown(answer), expected));
}

/// Throws: TypeError if the type does not fit. `who` begins the message: "schedule S: at()".
template <class T>
T answered(const py::handle& answer, const std::string& who, const char* expected) {
  if (auto fitting = if_it_fits<T>(answer)) return *std::move(fitting);
  throw_answer(answer, who, expected);
}

/// For a method of a Python object: the message begins with its class's name and `what`, such as
/// "state()".
template <class T>
T answered(const py::handle& answer, const py::handle& self, const char* what,
           const char* expected) {
  if (auto fitting = if_it_fits<T>(answer)) return *std::move(fitting);
  const std::string name(py::str(py::type::of(self).attr("__name__")));
  throw_answer(answer, fmt::format("{}.{}", name, what), expected);
}

/// Whether it is Python's, NumPy's or a tensor's, which Python converts to a number.
inline bool is_flag(const py::handle& answer) {
  if (!py::hasattr(answer, "dtype")) return py::isinstance<py::bool_>(answer);
  return std::string(py::str(answer.attr("dtype"))).ends_with("bool");
}

/// The same for a flag: numbers, texts and None are refused, of which most count as true or false.
inline bool answered_bool(const py::handle& answer, const py::handle& self, const char* what) {
  if (is_flag(answer)) return answered<bool>(answer, self, what, "True or False");
  const std::string name(py::str(py::type::of(self).attr("__name__")));
  throw_answer(answer, fmt::format("{}.{}", name, what), "True or False");
}

}  // namespace d5::python
