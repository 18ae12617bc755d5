// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <pybind11/typing.h>

#include <cstring>

#include "bindings.hpp"
#include "core/capsule.hpp"
#include "core/dtype_name.hpp"
#include "core/numpy_types.hpp"
#include "d5/core/errors/error.hpp"
#include "explained.hpp"

namespace d5::python {

/// A type that stubs show as NumPy's.
struct NumpyDType : py::object {
  PYBIND11_OBJECT_DEFAULT(NumpyDType, py::object, is_object)
};

}  // namespace d5::python

template <>
struct pybind11::detail::handle_type_name<d5::python::NumpyDType> {
  static constexpr auto name = const_name("numpy.dtype[typing.Any]");
};

namespace d5::python {
namespace {

/// A tensor in the host's memory.
void expect_on_host(const Tensor& tensor) {
  if (tensor.device() == Device{}) return;
  throw Unsupported(fmt::format("{}: NumPy reads the host's memory alone; take tensor.on_host()",
                                to_string(tensor.desc())));
}

Array to_numpy(const HeldTensor& held) {
  const Tensor& tensor = held.readable();
  expect_on_host(tensor);
  const auto dims = tensor.shape().dims();
  if (tensor.dtype() == DType::string) {
    py::list items;
    for (const auto& item : tensor.span<std::string>()) items.append(py::str(item));
    const auto numpy = py::module_::import("numpy");
    return numpy.attr("array")(items, py::arg("dtype") = "object")
        .attr("reshape")(std::vector<std::int64_t>(dims.begin(), dims.end()));
  }
  // The array keeps a handle of the tensor, and so its storage.
  const py::capsule owner(new Tensor(tensor), [](void* p) { delete static_cast<Tensor*>(p); });
  py::array array(numpy_type(tensor.dtype()), std::vector<py::ssize_t>(dims.begin(), dims.end()),
                  const_cast<void*>(tensor.raw()), owner);
  if (held.read_only) {
    py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  }
  return array;
}

py::buffer_info to_buffer(const HeldTensor& held) {
  const Tensor& tensor = held.readable();
  expect_on_host(tensor);
  const py::dtype type = numpy_type(tensor.dtype());
  if (type.num() >= 256) {  // a package's type
    throw Unsupported(fmt::format("the buffer protocol has no format for {}; take tensor.numpy()",
                                  name_of(tensor.dtype())));
  }
  const auto element = py::ssize_t(size_of(tensor.dtype()));
  std::vector<py::ssize_t> shape(tensor.shape().begin(), tensor.shape().end());
  std::vector<py::ssize_t> strides;
  for (const std::int64_t stride : tensor.shape().strides()) strides.push_back(stride * element);
  std::string format = type.attr("char").cast<std::string>();
  if (type.kind() == 'c') format = "Z" + std::string(element == 8 ? "f" : "d");
  const auto rank = py::ssize_t(shape.size());
  return {const_cast<void*>(tensor.raw()),
          element,
          format,
          rank,
          std::move(shape),
          std::move(strides),
          held.read_only};
}

/// Type, shape and elements: strings as a list, everything else as bytes.
Anything state_of(const HeldTensor& held) {
  const Tensor local = held.readable().on_host();
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

HeldTensor from_state(const Anything& pickled) {
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
  return {result};
}

NumpyDType numpy_dtype(const HeldTensor& held) {
  const DType dtype = held.tensor.dtype();
  if (dtype == DType::string) return NumpyDType(py::dtype("O"));
  try {
    return NumpyDType(numpy_type(dtype));
  } catch (const Unsupported&) {
    return NumpyDType(py::str(std::string(name_of(dtype))));
  }
}

HeldTensor reshaped(const HeldTensor& held, const py::args& shape) {
  const bool is_list = shape.size() == 1 && !py::isinstance<py::int_>(shape[0]);
  const py::object wanted = is_list ? py::object(shape[0]) : py::object(shape);
  const py::object array = to_numpy(held).attr("reshape")(wanted);
  const auto dims = array.attr("shape").cast<std::vector<std::int64_t>>();
  return {held.readable().reshaped(Shape(dims)), held.lease, held.read_only};
}

HeldTensor as_type(const HeldTensor& held, const Anything& dtype) {
  const auto name = dtype_name_of(dtype);
  if (!name) {
    throw TypeError(fmt::format("{} is no element type; expected text, or NumPy's or torch's type",
                                shown(dtype)));
  }
  return hold(to_numpy(held).attr("astype")(numpy_type(dtype_from_name(*name))));
}

/// Throws: TypeError if it is not one whole number.
py::object index_of(const HeldTensor& held) { return to_numpy(held).attr("__index__")(); }

Array array_of(const HeldTensor& held, const Anything& dtype, const Anything& copy) {
  const Array array = to_numpy(held);
  const bool own = !copy.is_none() && copy.cast<bool>();
  if (!dtype.is_none()) return Array(array.attr("astype")(dtype, py::arg("copy") = own));
  return own ? Array(array.attr("copy")()) : array;
}

}  // namespace

void HeldTensor::throw_read_only() const {
  throw TypeError(fmt::format("{} is read-only, like the array that it shares; take tensor.copy()",
                              to_string(tensor.desc())));
}

HeldTensor* held_tensor(const py::handle& object) {
  // Not by a cast, which would convert.
  static const py::handle type = py::type::of<HeldTensor>().release();
  if (!object || !PyObject_TypeCheck(object.ptr(), reinterpret_cast<PyTypeObject*>(type.ptr()))) {
    return nullptr;
  }
  return py::cast<HeldTensor*>(object);
}

void bind_tensor(py::module_& m) {
  py::class_<HeldTensor> tensor(
      m, "Tensor", py::buffer_protocol(),
      "A dense array. Shares memory with NumPy, torch (DLPack) and objects that support Python's "
      "buffer protocol.\n\n"
      "A tensor that a hook, a kernel or a batch lends raises ValueError if it is used after its "
      "memory was reused: copy() what you keep. NumPy's functions and operators take tensors, and "
      "return NumPy arrays.");
  tensor
      .def(py::init([](const Anything& array) { return hold(array); }), py::arg("array"),
           "Shares the memory of a dense `array`, read-only if it is, and copies any other.")
      .def_property_readonly(
          "shape",
          [](const HeldTensor& t) {
            return py::typing::Tuple<std::int64_t, py::ellipsis>(py::tuple(py::cast(
                std::vector<std::int64_t>(t.tensor.shape().begin(), t.tensor.shape().end()))));
          },
          "Size of each dimension; () for a scalar.")
      .def_property_readonly(
          "dtype", &numpy_dtype,
          "NumPy's type, or one of the package ml_dtypes; the name of a type that neither has.")
      .def_property_readonly(
          "ndim", [](const HeldTensor& t) { return t.tensor.shape().rank(); },
          "Number of dimensions.")
      .def_property_readonly(
          "size", [](const HeldTensor& t) { return t.tensor.elements(); }, "Number of elements.")
      .def_property_readonly(
          "nbytes", [](const HeldTensor& t) { return t.tensor.bytes(); },
          "Size of the elements in bytes.")
      .def_property_readonly(
          "device", [](const HeldTensor& t) { return to_string(t.tensor.device()); },
          "Device that has the memory: \"cpu\", \"cuda:0\".")
      .def_property_readonly(
          "read_only", [](const HeldTensor& t) { return t.read_only; },
          "Whether it shares memory that must not be written.")
      .def_buffer(&to_buffer)
      .def("numpy", &to_numpy, "A NumPy array over the same memory; no copy (strings are copied).")
      .def(
          "copy", [](const HeldTensor& t) { return t.readable().copy(); },
          "A tensor with memory of its own.")
      .def(
          "on_host",
          [](const HeldTensor& t) {
            return t.tensor.device() == Device{} ? t : HeldTensor{t.readable().copy(Device{})};
          },
          "The tensor itself, or a copy in host memory if it is on a device.")
      .def(
          "copy_from",
          [](HeldTensor& t, const Anything& array) {
            Tensor into = t.writable();
            into.copy_from(to_tensor(array));
          },
          py::arg("array"), "Overwrites the elements; shape and type must agree.")
      .def(
          "tolist", [](const HeldTensor& t) { return Anything(to_numpy(t).attr("tolist")()); },
          "Nested lists of numbers; a number for a scalar.")
      .def("reshape", &reshaped,
           "A tensor of another shape over the same memory: reshape(2, -1), reshape((2, -1)).")
      .def("astype", &as_type, py::arg("dtype"), "A copy with another element type.")
      .def("__index__", &index_of)
      .def(
          "item", [](const HeldTensor& t) { return Anything(to_numpy(t).attr("item")()); },
          "The only element as a number. Raises ValueError if there are several.")
      .def("__float__", [](const HeldTensor& t) { return py::float_(to_numpy(t).attr("item")()); })
      .def("__int__", [](const HeldTensor& t) { return py::int_(to_numpy(t).attr("item")()); })
      .def("__bool__", [](const HeldTensor& t) { return py::bool_(to_numpy(t)); })
      .def(
          "__getitem__",
          [](const HeldTensor& t, const Anything& index) { return Anything(to_numpy(t)[index]); },
          py::arg("index"), "Indexes like `numpy()`: numbers, and views of the same memory.")
      .def(
          "__setitem__",
          [](const HeldTensor& t, const Anything& index, const Anything& values) {
            to_numpy(t)[index] = values;
          },
          py::arg("index"), py::arg("values"), "Assigns like `numpy()`.")
      .def("__len__",
           [](const HeldTensor& t) {
             if (t.tensor.shape().rank() == 0) throw ShapeError("a scalar has no length");
             return t.tensor.shape()[0];
           })
      .def("__array__", &array_of, py::arg("dtype") = py::none(), py::arg("copy") = py::none())
      .def("__dlpack__", &to_capsule, py::kw_only(), py::arg("stream") = py::none(),
           py::arg("max_version") = py::none(), py::arg("dl_device") = py::none(),
           py::arg("copy") = py::none(),
           "Exports the tensor by DLPack, version 1.1; without `max_version` by the unversioned "
           "protocol.")
      .def("__dlpack_device__",
           [](const HeldTensor& t) {
             return py::make_tuple(int(t.tensor.device().kind), t.tensor.device().index);
           })
      .def("__deepcopy__", [](const HeldTensor& t, const Anything&) { return t.readable().copy(); })
      .def(py::pickle(&state_of, &from_state))
      .def("__repr__", [](const HeldTensor& t) {
        return "d5.Tensor(" + to_string(t.readable().on_host()) + ")";
      });
  bind_tensor_arithmetic(tensor);
  explain_wrong_calls(tensor, {"numpy"});
}

}  // namespace d5::python
