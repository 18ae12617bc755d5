// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "d5/core/tensor/tensor.hpp"
#include "lease.hpp"

namespace d5::python {

/// A tensor as Python holds it, d5.Tensor: it may be lent, or over memory that must not be written.
struct HeldTensor {
  Tensor tensor;
  SharedLease lease = nullptr;  ///< null: valid for ever
  bool read_only = false;

  /// The tensor for reading. Throws: ValueError if its lease is over.
  [[nodiscard]] const Tensor& readable() const {
    if (lease) lease->expect_good();
    return tensor;
  }
  /// The tensor for writing. Throws: TypeError if it is read-only.
  [[nodiscard]] const Tensor& writable() const {
    if (read_only) throw_read_only();
    return readable();
  }

 private:
  [[noreturn]] void throw_read_only() const;
};

/// A parameter of a C++ function that only reads the tensor: a d5.Tensor, or an array.
struct ReadTensor {
  Tensor tensor;
};

/// The tensor of an object that `hold` (bindings.hpp) takes, which is only read.
[[nodiscard]] Tensor to_tensor(const pybind11::handle& object);
/// Returns null if it is no d5.Tensor.
[[nodiscard]] HeldTensor* held_tensor(const pybind11::handle& object);

}  // namespace d5::python

/// Lets C++ functions take and return tensors: a `Tensor` may be written to, a `ReadTensor` may
/// not, which also takes an array (`__dlpack__`).
template <>
struct pybind11::detail::type_caster<d5::Tensor> {
  PYBIND11_TYPE_CASTER(d5::Tensor, make_caster<d5::python::HeldTensor>::name);

  bool load(handle source, bool) {
    const auto* held = d5::python::held_tensor(source);
    if (held) value = held->writable();
    return held != nullptr;
  }
  static handle cast(const d5::Tensor& tensor, return_value_policy, handle parent) {
    return make_caster<d5::python::HeldTensor>::cast(d5::python::HeldTensor{tensor},
                                                     return_value_policy::move, parent);
  }
};

template <>
struct pybind11::detail::type_caster<d5::python::ReadTensor> {
  PYBIND11_TYPE_CASTER(d5::python::ReadTensor,
                       make_caster<d5::python::HeldTensor>::name +
                           const_name(" | numpy.typing.NDArray[typing.Any]"));

  bool load(handle source, bool) {
    if (const auto* held = d5::python::held_tensor(source)) {
      value = {held->readable()};
      return true;
    }
    if (!hasattr(source, "__dlpack__")) return false;
    value = {d5::python::to_tensor(source)};
    return true;
  }
};
