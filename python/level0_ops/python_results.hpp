// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>

#include "bindings.hpp"
#include "errors.hpp"
#include "long_call.hpp"

namespace d5::python {

/// Begins messages; the text is made only when an error is raised.
using Who = std::function<std::string()>;

/// Calls a framework's Python code, which `who` names. Throws: what it raises, as d5's error.
template <class Call>
void call_framework(const Who& who, const Call& call) {
  const py::gil_scoped_acquire gil;
  try {
    call_python(call);
  } catch (py::error_already_set& raised) {
    throw_as_d5(raised, who());
  }
}

/// Read-only tensors over d5's own memory, lent to a framework's Python code; None for inputs that
/// are left out.
[[nodiscard]] py::object to_python(const Tensor* tensor, const SharedLease& lease);
[[nodiscard]] py::list to_list(std::span<const Value* const> values, const SharedLease& lease);

/// The result of a framework's Python code: one array, or a tuple or list of them.
class PythonResults {
 public:
  /// `what` each result is: "output". Throws: ShapeError for another number than `count`.
  PythonResults(const Who& who, const py::object& returned, std::size_t count, const char* what);

  /// Throws: ValueError if it is None.
  [[nodiscard]] Tensor tensor(std::size_t i) const;
  /// Copies a result into place, unless it is there. Throws: TypeError, ShapeError if it does not
  /// fit.
  void write(std::size_t i, Tensor& into) const;

 private:
  const Who& who_;
  py::tuple all_;
  const char* what_;
};

}  // namespace d5::python
