// SPDX-License-Identifier: Apache-2.0
// Python arrays as tensors.
#include <fmt/format.h>

#include "core/numpy_types.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/dlpack.hpp"

namespace d5::python {
namespace {

HeldTensor strings_from_numpy(const py::array& array) {
  Shape shape;
  for (py::ssize_t i = 0; i < array.ndim(); ++i) shape.push_back(array.shape(i));
  Tensor result = Tensor::empty(DType::string, shape);
  auto* to = result.data<std::string>();
  for (const auto& item : array.attr("ravel")().attr("tolist")()) {
    if (!py::isinstance<py::str>(item) && !py::isinstance<py::bytes>(item)) {
      throw TypeError(fmt::format(
          "an array of Python objects holds a {}; expected numbers of one type (rows of equal "
          "length, no None), or strings alone",
          std::string(py::str(py::type::of(item).attr("__name__")))));
    }
    *to++ = item.cast<std::string>();
  }
  return {result};
}

bool is_native(const py::dtype& type) { return type.byteorder() == '=' || type.byteorder() == '|'; }

/// Copies elements into rows, in this machine's byte order, at proper alignment.
bool is_plain(const py::array& array, std::size_t element_bytes) {
  const auto step = std::min<std::size_t>(element_bytes, 8);
  return (array.flags() & py::array::c_style) != 0 &&
         reinterpret_cast<std::uintptr_t>(array.data()) % step == 0;
}

HeldTensor over_array(py::array array) {
  const char kind = array.dtype().kind();
  if (kind == 'U' || kind == 'O' || kind == 'S' || kind == 'T') return strings_from_numpy(array);
  const auto dtype = dtype_of_numpy(array.dtype());
  if (!dtype) {
    throw TypeError(
        fmt::format("an array of {} cannot become a tensor; expected numbers or strings",
                    std::string(py::str(array.dtype()))));
  }
  if (!is_native(array.dtype())) {
    array = array.attr("astype")(array.dtype().attr("newbyteorder")("="));
  }
  if (!is_plain(array, size_of(*dtype))) array = array.attr("copy")("C");
  const std::span<const py::ssize_t> dims(array.shape(), std::size_t(array.ndim()));
  const TensorDesc desc{*dtype, Shape(std::span<const std::int64_t>(dims.begin(), dims.end()))};
  const bool read_only = !array.writeable();
  auto* data = const_cast<void*>(array.data());
  return {Tensor::borrow(desc, data, std::make_shared<PythonReference>(std::move(array))), nullptr,
          read_only};
}

/// The structure in a capsule of that name, which the caller then owns; null if there is none.
template <class Managed>
Managed* take(const py::object& capsule, const char* name, const char* used) {
  if (!PyCapsule_IsValid(capsule.ptr(), name)) return nullptr;
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule.ptr(), name));
  // Keeps the capsule's destructor from freeing the structure.
  PyCapsule_SetName(capsule.ptr(), used);
  return managed;
}

template <class Managed>
Tensor over(Managed* managed) {
  try {
    return from_dlpack(managed);
  } catch (...) {
    if (managed->deleter) managed->deleter(managed);
    throw;
  }
}

HeldTensor over_capsule(const py::object& capsule) {
  if (auto* managed = take<D5DLManagedTensorVersioned>(capsule, "dltensor_versioned",
                                                       "used_dltensor_versioned")) {
    const bool read_only = (managed->flags & kDlpackReadOnly) != 0;
    return {over(managed), nullptr, read_only};
  }
  if (auto* managed = take<D5DLManagedTensor>(capsule, "dltensor", "used_dltensor")) {
    return {over(managed)};
  }
  throw TypeError(
      fmt::format("__dlpack__ gave {}, expected a capsule that nobody has used", shown(capsule)));
}

/// Throws: TypeError with the library's reason, such as that of torch for a sparse tensor.
[[noreturn]] void throw_not_shared(const py::handle& source, const py::error_already_set& raised) {
  throw TypeError(fmt::format("{} cannot become a tensor: {}; expected dense elements in memory",
                              std::string(py::str(py::type::of(source).attr("__name__"))),
                              std::string(py::str(raised.value()))));
}

HeldTensor dlpack_of(py::object source) {
  if (py::hasattr(source, "detach")) source = source.attr("detach")().attr("contiguous")();
  const py::object give = source.attr("__dlpack__");
  try {
    return over_capsule(give(py::arg("max_version") = py::make_tuple(1, 1)));
  } catch (py::error_already_set& raised) {  // from before DLPack had versions
    if (!raised.matches(PyExc_TypeError)) throw;
  }
  return over_capsule(give());
}

HeldTensor over_dlpack(const py::object& source) {
  try {
    return dlpack_of(source);
  } catch (const py::error_already_set& raised) {
    const bool is_refusal = raised.matches(PyExc_BufferError) || raised.matches(PyExc_TypeError) ||
                            raised.matches(PyExc_ValueError) || raised.matches(PyExc_RuntimeError);
    if (!is_refusal) throw;
    throw_not_shared(source, raised);
  }
}

/// Throws: TypeError for rows of different lengths.
py::object as_array(const py::handle& object) {
  try {
    return py::module_::import("numpy").attr("asarray")(object);
  } catch (const py::error_already_set& raised) {
    if (!raised.matches(PyExc_ValueError)) throw;
    throw_not_shared(object, raised);
  }
}

/// Throws: ValueError for hidden elements, which would count as others.
void expect_no_mask(const py::handle& array) {
  if (!py::hasattr(array, "mask") || !py::hasattr(array, "filled")) return;
  if (!py::module_::import("numpy").attr("any")(array.attr("mask")).cast<bool>()) return;
  throw ValueError("an array has masked elements; x.filled(0) gives them a value");
}

}  // namespace

HeldTensor hold(const py::handle& object) {
  if (const HeldTensor* held = held_tensor(object)) return *held;
  if (py::isinstance<py::array>(object)) {
    expect_no_mask(object);
    return over_array(py::reinterpret_borrow<py::array>(object));
  }
  if (py::hasattr(object, "__dlpack__")) {
    return over_dlpack(py::reinterpret_borrow<py::object>(object));
  }
  return over_array(as_array(object));
}

Tensor to_tensor(const py::handle& object) { return hold(object).readable(); }

Tensor to_writable_tensor(const py::handle& object) {
  const HeldTensor held = hold(object);
  return held.read_only || held.lease ? held.readable().copy() : held.tensor;
}

}  // namespace d5::python
