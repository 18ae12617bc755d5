// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/typing.h>

#include <cstring>

#include "bindings.hpp"
#include "d5/core/core.hpp"

namespace d5::python {
namespace {

/// NumPy's name of an element type; none for types that NumPy lacks.
const char* numpy_name(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return "float32";
    case DType::float64:
      return "float64";
    case DType::float16:
      return "float16";
    case DType::int8:
      return "int8";
    case DType::int16:
      return "int16";
    case DType::int32:
      return "int32";
    case DType::int64:
      return "int64";
    case DType::uint8:
      return "uint8";
    case DType::uint16:
      return "uint16";
    case DType::uint32:
      return "uint32";
    case DType::uint64:
      return "uint64";
    case DType::boolean:
      return "bool";
    case DType::complex64:
      return "complex64";
    case DType::complex128:
      return "complex128";
    default:
      return nullptr;
  }
}

Array to_numpy(const Tensor& tensor) {
  const auto dims = tensor.shape().dims();
  if (tensor.dtype() == DType::string) {
    py::list items;
    for (const auto& item : tensor.span<std::string>()) items.append(py::str(item));
    const auto numpy = py::module_::import("numpy");
    return numpy.attr("array")(items, py::arg("dtype") = "object")
        .attr("reshape")(std::vector<std::int64_t>(dims.begin(), dims.end()));
  }
  const char* name = numpy_name(tensor.dtype());
  if (!name) {
    throw Unsupported(fmt::format("NumPy has no type for {}; use torch.from_dlpack, or cast first",
                                  name_of(tensor.dtype())));
  }
  // The array keeps a handle of the tensor, and by it the storage.
  const py::capsule owner(new Tensor(tensor), [](void* p) { delete static_cast<Tensor*>(p); });
  return py::array(py::dtype(name), std::vector<py::ssize_t>(dims.begin(), dims.end()),
                   const_cast<void*>(tensor.raw()), owner);
}

py::capsule to_capsule(const Tensor& tensor) {
  return py::capsule(to_dlpack(tensor), "dltensor", [](PyObject* capsule) {
    // A consumer renames the capsule when it takes over.
    if (!PyCapsule_IsValid(capsule, "dltensor")) return;
    auto* managed = static_cast<D5DLManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor"));
    managed->deleter(managed);
  });
}

/// Type, shape and elements: strings as a list, all else as bytes.
Anything state_of(const Tensor& tensor) {
  const Tensor local = tensor.on_host();
  py::object elements;
  if (local.dtype() == DType::string) {
    py::list strings;
    for (const auto& item : local.span<std::string>()) strings.append(py::bytes(item));
    elements = strings;
  } else {
    elements = py::bytes(static_cast<const char*>(local.raw()), local.bytes());
  }
  const auto dims = local.shape().dims();
  return py::make_tuple(std::string(name_of(local.dtype())),
                        std::vector<std::int64_t>(dims.begin(), dims.end()), elements);
}

Tensor from_state(const Anything& pickled) {
  const py::tuple state = pickled;
  if (state.size() != 3) throw FormatError("a pickled tensor has 3 parts: type, shape, elements");
  Tensor result = Tensor::empty(dtype_from_name(state[0].cast<std::string>()),
                                Shape(state[1].cast<std::vector<std::int64_t>>()));
  const std::size_t given = py::len(state[2]);
  const bool strings = result.dtype() == DType::string;
  const std::size_t expected = strings ? std::size_t(result.elements()) : result.bytes();
  if (given != expected) {
    throw FormatError(fmt::format("a pickled tensor of {} has {} {}, expected {}",
                                  to_string(result.desc()), given, strings ? "strings" : "bytes",
                                  expected));
  }
  if (strings) {
    auto* to = result.data<std::string>();
    for (const auto& item : py::list(state[2])) *to++ = item.cast<std::string>();
  } else if (given > 0) {
    std::memcpy(result.raw(), PyBytes_AsString(py::bytes(state[2]).ptr()), given);
  }
  return result;
}

}  // namespace

void bind_tensor(py::module_& m) {
  py::class_<Tensor>(m, "Tensor", "A dense array; shares memory with NumPy and torch (DLPack).")
      .def(py::init([](const Anything& array) { return to_tensor(array); }), py::arg("array"),
           "Shares the memory of `array` where it is dense and writable, and copies otherwise.")
      .def_property_readonly(
          "shape",
          [](const Tensor& t) {
            return py::typing::Tuple<std::int64_t, py::ellipsis>(
                py::tuple(py::cast(std::vector<std::int64_t>(t.shape().begin(), t.shape().end()))));
          })
      .def_property_readonly("dtype",
                             [](const Tensor& t) { return std::string(name_of(t.dtype())); })
      .def_property_readonly("nbytes", &Tensor::bytes)
      .def("numpy", &to_numpy, "A NumPy array over the same memory; no copy (strings are copied).")
      .def(
          "copy", [](const Tensor& t) { return t.copy(); }, "A tensor with memory of its own.")
      .def(
          "copy_from", [](Tensor& t, const Anything& array) { t.copy_from(to_tensor(array)); },
          py::arg("array"), "Overwrites the elements; shape and type must agree.")
      .def("item", [](const Tensor& t) { return Anything(to_numpy(t).attr("item")()); })
      .def("__float__", [](const Tensor& t) { return py::float_(to_numpy(t).attr("item")()); })
      .def("__int__", [](const Tensor& t) { return py::int_(to_numpy(t).attr("item")()); })
      .def("__bool__", [](const Tensor& t) { return py::bool_(to_numpy(t)); })
      .def(
          "__getitem__",
          [](const Tensor& t, const Anything& index) { return Anything(to_numpy(t)[index]); },
          py::arg("index"), "As of `numpy()`: numbers, and views of the same memory.")
      .def("__len__",
           [](const Tensor& t) {
             if (t.shape().rank() == 0) throw ShapeError("a scalar has no length");
             return t.shape()[0];
           })
      .def(
          "__array__",
          [](const Tensor& t, const Anything& dtype, const Anything& copy) {
            const Array array = to_numpy(t);
            const bool own = !copy.is_none() && copy.cast<bool>();
            if (!dtype.is_none()) return Array(array.attr("astype")(dtype, py::arg("copy") = own));
            return own ? Array(array.attr("copy")()) : array;
          },
          py::arg("dtype") = py::none(), py::arg("copy") = py::none())
      .def("__dlpack__", [](const Tensor& t, const Options&) { return to_capsule(t); })
      .def("__dlpack_device__",
           [](const Tensor& t) { return py::make_tuple(int(t.device().kind), t.device().index); })
      .def("__deepcopy__", [](const Tensor& t, const Anything&) { return t.copy(); })
      .def(py::pickle(&state_of, &from_state))
      .def("__repr__", [](const Tensor& t) { return "d5.Tensor(" + to_string(t) + ")"; });
}

}  // namespace d5::python
