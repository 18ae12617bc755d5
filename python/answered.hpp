// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <type_traits>

#include "bindings.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::python {

/// What a callback returned, as C++ needs it, if it is that.
template <class T>
std::optional<T> if_it_fits(const py::handle& answer) {
  bool fits = true;  // Python's own types would be converted: a list of pairs to a dict
  if constexpr (std::is_base_of_v<py::object, T>) fits = py::isinstance<T>(answer);
  try {
    if (fits) return answer.cast<T>();
  } catch (const py::cast_error&) {
  }
  return {};
}

[[noreturn]] inline void throw_answer(const py::handle& answer, const std::string& who,
                                      const char* expected) {
  constexpr std::size_t kMost = 200;
  const auto said = py::repr(answer).cast<std::string>();
  throw TypeError(fmt::format("{} gave {}, expected {}", who, said.substr(0, kMost), expected));
}

/// Throws: TypeError where it does not fit, which `who` begins: "schedule S: at()".
template <class T>
T answered(const py::handle& answer, const std::string& who, const char* expected) {
  if (auto fitting = if_it_fits<T>(answer)) return *std::move(fitting);
  throw_answer(answer, who, expected);
}

/// Of an object in Python: its class's name and `what`, as "state()", begin the error.
template <class T>
T answered(const py::handle& answer, const py::handle& self, const char* what,
           const char* expected) {
  if (auto fitting = if_it_fits<T>(answer)) return *std::move(fitting);
  const std::string name(py::str(py::type::of(self).attr("__name__")));
  throw_answer(answer, fmt::format("{}.{}", name, what), expected);
}

}  // namespace d5::python
