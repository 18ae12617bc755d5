// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <string>

namespace d5::python {

/// The name of an element type, which Python gives as text, as NumPy's or as torch's type:
/// "float32", np.float32, torch.float32.
struct DTypeName {
  std::string name;
};

/// Nullopt if the object names no type.
[[nodiscard]] std::optional<std::string> dtype_name_of(const pybind11::handle& object);

}  // namespace d5::python

template <>
struct pybind11::detail::type_caster<d5::python::DTypeName> {
  PYBIND11_TYPE_CASTER(d5::python::DTypeName, const_name("numpy.typing.DTypeLike"));

  bool load(handle source, bool) {
    auto name = d5::python::dtype_name_of(source);
    if (name) value = {*std::move(name)};
    return bool(name);
  }
  static handle cast(const d5::python::DTypeName& dtype, return_value_policy, handle) {
    return pybind11::str(dtype.name).release();
  }
};
