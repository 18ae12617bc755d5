// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string>
#include <type_traits>

#include "bindings.hpp"
#include "d5/core/error.hpp"

namespace d5::python {

/// What a callback returned, as C++ needs it. Throws: TypeError, which `who` begins: "schedule S:
/// at()".
template <class T>
T answered(const py::handle& answer, const std::string& who, const char* expected) {
  bool fits = true;  // Python's own types would be converted: a list of pairs to a dict
  if constexpr (std::is_base_of_v<py::object, T>) fits = py::isinstance<T>(answer);
  try {
    if (fits) return answer.cast<T>();
  } catch (const py::cast_error&) {
  }
  constexpr std::size_t kMost = 200;
  const auto said = py::repr(answer).cast<std::string>();
  throw TypeError(fmt::format("{} gave {}, expected {}", who, said.substr(0, kMost), expected));
}

}  // namespace d5::python
