// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "d5/core/settings.hpp"
#include "d5/core/tensor.hpp"
#include "d5/core/value.hpp"
#include "d5/onnx/model.hpp"

namespace d5::python {

namespace py = pybind11;

// One function a level; each stands in the file of that name.
void bind_core(py::module_& m);
void bind_bench(py::module_& m);
void bind_onnx(py::module_& m);
void bind_level0_ops(py::module_& m);
void bind_level1_network(py::module_& m);
void bind_level2_training(py::module_& m);
void bind_level3_distributed(py::module_& m);

/// A d5.Tensor as it is; anything with `__dlpack__` (NumPy, torch) shared without a copy; lists and
/// numbers as `numpy.asarray` reads them. What is not dense row-major is copied.
[[nodiscard]] Tensor to_tensor(const py::handle& object);
/// Lists become sequences, None an absent value, the rest tensors.
[[nodiscard]] Value to_value(const py::handle& object);
[[nodiscard]] ValueMap to_values(const py::dict& values);
/// Tensors share storage; sequences become lists, optionals their content or None, maps dicts.
[[nodiscard]] py::object from_value(const Value& value);
[[nodiscard]] py::dict from_values(const ValueMap& values);
/// The same with storage of their own.
[[nodiscard]] py::dict copy_values(const ValueMap& values);

/// int, float, str, lists of these, arrays and d5.Tensor, as ONNX attributes.
[[nodiscard]] onnx::Attribute to_attribute(const py::handle& object);
[[nodiscard]] py::object from_attribute(const onnx::Attribute& attribute);

/// Keywords as the text that a recipe would hold.
[[nodiscard]] Settings to_settings(const py::kwargs& options);

/// A std::function or object that holds Python references, safe to destroy without the GIL.
struct PythonReference {
  explicit PythonReference(py::object held) : object(std::move(held)) {}
  ~PythonReference() {
    // At interpreter shutdown there is nothing left to release.
    if (!Py_IsInitialized()) {
      object.release();
      return;
    }
    const py::gil_scoped_acquire gil;
    object = py::object();
  }
  PythonReference(const PythonReference&) = delete;
  PythonReference& operator=(const PythonReference&) = delete;
  py::object object;
};

/// Whether the class of `object` has a method `name` that `base` (a class of d5) does not provide.
[[nodiscard]] bool overrides(const py::handle& object, const char* base, const char* name);

}  // namespace d5::python
