// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/python_results.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "lent_inputs.hpp"

namespace d5::python {

py::object to_python(const Tensor* tensor, const SharedLease& lease) {
  return tensor ? py::object(lend_input(*tensor, lease)) : py::object(py::none());
}

py::list to_list(std::span<const Value* const> values, const SharedLease& lease) {
  py::list result;
  for (const Value* value : values) {
    result.append(to_python(value ? &value->tensor() : nullptr, lease));
  }
  return result;
}

PythonResults::PythonResults(const Who& who, const py::object& returned, std::size_t count,
                             const char* what)
    : who_(who), what_(what) {
  const bool several = py::isinstance<py::tuple>(returned) || py::isinstance<py::list>(returned);
  all_ = several ? py::tuple(returned) : py::make_tuple(returned);
  if (all_.size() == count) return;
  throw ShapeError(
      fmt::format("{}: it returned {} {}s, expected {}", who_(), all_.size(), what, count));
}

Tensor PythonResults::tensor(std::size_t i) const {
  const py::object result = all_[i];
  if (!result.is_none()) return to_tensor(result);
  throw ValueError(fmt::format("{}: it returned None as {} {}", who_(), what_, i));
}

void PythonResults::write(std::size_t i, Tensor& into) const {
  const Tensor result = tensor(i);
  const auto message = [&] {
    return fmt::format("{}: it returned {} as {} {}, expected {}", who_(), to_string(result.desc()),
                       what_, i, to_string(into.desc()));
  };
  if (result.dtype() != into.dtype()) throw TypeError(message());
  if (result.shape() != into.shape()) throw ShapeError(message());
  if (result.raw() != into.raw()) into.copy_from(result);
}

}  // namespace d5::python
