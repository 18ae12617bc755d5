// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings.hpp"

namespace d5::python {

/// A parameter of a C++ function that writes to the tensor: a d5.Tensor, or an array whose memory
/// it shares.
struct WrittenTensor {
  Tensor tensor;
};

/// The tensor over an array's memory. Throws: TypeError for a read-only array, and for one that is
/// not dense, whose tensor is a copy.
[[nodiscard]] Tensor tensor_over(const py::handle& array);

}  // namespace d5::python

template <>
struct pybind11::detail::type_caster<d5::python::WrittenTensor> {
  PYBIND11_TYPE_CASTER(d5::python::WrittenTensor, make_caster<d5::python::ReadTensor>::name);

  bool load(handle source, bool) {
    if (const auto* held = d5::python::held_tensor(source)) {
      value = {held->writable()};
      return true;
    }
    if (!hasattr(source, "__dlpack__")) return false;
    value = {d5::python::tensor_over(source)};
    return true;
  }
};
