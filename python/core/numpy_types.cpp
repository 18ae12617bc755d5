// SPDX-License-Identifier: Apache-2.0
#include "core/numpy_types.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "d5/core/errors/error.hpp"

namespace d5::python {
namespace {

struct NumpyType {
  DType dtype;
  const char* name;
  char kind;  ///< NumPy's letter; 'V' for ml_dtypes, whatever letter it uses
};

constexpr std::array kTypes = {NumpyType{DType::boolean, "bool", 'b'},
                               NumpyType{DType::int8, "int8", 'i'},
                               NumpyType{DType::int16, "int16", 'i'},
                               NumpyType{DType::int32, "int32", 'i'},
                               NumpyType{DType::int64, "int64", 'i'},
                               NumpyType{DType::uint8, "uint8", 'u'},
                               NumpyType{DType::uint16, "uint16", 'u'},
                               NumpyType{DType::uint32, "uint32", 'u'},
                               NumpyType{DType::uint64, "uint64", 'u'},
                               NumpyType{DType::float16, "float16", 'f'},
                               NumpyType{DType::float32, "float32", 'f'},
                               NumpyType{DType::float64, "float64", 'f'},
                               NumpyType{DType::complex64, "complex64", 'c'},
                               NumpyType{DType::complex128, "complex128", 'c'},
                               NumpyType{DType::bfloat16, "bfloat16", 'V'},
                               NumpyType{DType::float8e4m3fn, "float8_e4m3fn", 'V'},
                               NumpyType{DType::float8e4m3fnuz, "float8_e4m3fnuz", 'V'},
                               NumpyType{DType::float8e5m2, "float8_e5m2", 'V'},
                               NumpyType{DType::float8e5m2fnuz, "float8_e5m2fnuz", 'V'},
                               NumpyType{DType::float8e8m0, "float8_e8m0fnu", 'V'}};

/// A package of this interpreter, or none. Looked up once.
const py::object& ml_dtypes() {
  static const auto* module = [] {
    try {
      return new py::object(py::module_::import("ml_dtypes"));
    } catch (py::error_already_set& raised) {
      if (!raised.matches(PyExc_ImportError)) throw;
      return new py::object(py::none());
    }
  }();
  return *module;
}

py::dtype make_type(DType dtype) {
  for (const NumpyType& one : kTypes) {
    if (one.dtype != dtype) continue;
    if (one.kind != 'V') return py::dtype(one.name);
    if (!ml_dtypes().is_none() && py::hasattr(ml_dtypes(), one.name)) {
      return py::dtype::from_args(ml_dtypes().attr(one.name));
    }
  }
  throw Unsupported(fmt::format(
      "NumPy has no type for {}; install ml_dtypes, use torch.from_dlpack, or cast first",
      name_of(dtype)));
}

}  // namespace

py::dtype numpy_type(DType dtype) {
  // Never freed: the interpreter may end before statics are destroyed.
  static auto* made = new std::array<py::object, kDTypeCount>;
  py::object& type = (*made)[std::size_t(dtype)];
  if (!type) type = make_type(dtype);
  return py::reinterpret_borrow<py::dtype>(type);
}

std::optional<DType> dtype_of_numpy(const py::dtype& type) {
  constexpr int kFirstOfPackages = 256;  // NPY_USERDEF
  const char kind = type.kind();
  if (type.num() >= kFirstOfPackages) {
    const auto name = type.attr("name").cast<std::string>();
    for (const NumpyType& one : kTypes) {
      if (one.kind == 'V' && name == one.name) return one.dtype;
    }
    return {};
  }
  const auto bytes = std::size_t(type.itemsize());
  for (const NumpyType& one : kTypes) {
    if (kind != 'V' && one.kind == kind && size_of(one.dtype) == bytes) return one.dtype;
  }
  return {};
}

}  // namespace d5::python
