// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <filesystem>
#include <string>
#include <vector>

#include "d5/core/entries/settings.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/core/tensor/tensor.hpp"
#include "d5/core/tensor/value.hpp"
#include "d5/onnx/model.hpp"
#include "held_tensor.hpp"

namespace d5::python {

namespace py = pybind11;

// One function per file, with the file's name.
void bind_errors();
void bind_core(py::module_& m);
void bind_tensor(py::module_& m);
void bind_tensor_arithmetic(py::class_<HeldTensor>& tensor);
void bind_table(py::module_& m);
void bind_measurement(py::module_& m);
void bind_plot(py::module_& m);
void bind_environment(py::module_& m);
void bind_artefact_store(py::module_& m);
void bind_timeline(py::module_& m);
void bind_onnx(py::module_& m);
void bind_explained(py::module_& m);
void bind_operator_contexts(py::module_& m);
void bind_custom_operators(py::module_& m);
void bind_planned_node(py::module_& m);
void bind_framework(py::module_& m);
void bind_framework_model(py::module_& m);
void bind_operator_support(py::module_& m);
void bind_operator_validation(py::module_& m);
void bind_judge(py::module_& m);
void bind_network(py::module_& m);
void bind_network_summary(py::module_& m);
void bind_model_source(py::module_& m);
void bind_network_tables(py::module_& m);
void bind_planned_memory(py::module_& m);
void bind_executor(py::module_& m);
void bind_framework_selection(py::module_& m);
void bind_network_validation(py::module_& m);
void bind_dataset(py::module_& m);
void bind_container(py::module_& m);
void bind_sampler(py::module_& m);
void bind_training_metric(py::module_& m);
void bind_optimizer(py::module_& m);
void bind_loss(py::module_& m);
void bind_step_graph(py::module_& m);
void bind_trainer(py::module_& m);
void bind_checkpoint(py::module_& m);
void bind_recipe(py::module_& m);
void bind_training_session(py::module_& m);
void bind_training_repetition(py::module_& m);
void bind_training_validation(py::module_& m);
void bind_gradient_source(py::module_& m);
void bind_schedule(py::module_& m);
void bind_published_data(py::module_& m);
void bind_dataset_summary(py::module_& m);
void bind_part_kinds(py::module_& m);
void bind_level3_distributed(py::module_& m);
void bind_distributed_optimizer(py::module_& m);
void bind_comparison(py::module_& m);
void bind_work_list(py::module_& m);
void bind_bench(py::module_& m);
// One function per optional part. If the part is left out, its stand-in adds to `left_out`.
void bind_prediction(py::module_& m);
void bind_evaluation(py::module_& m);
void bind_serving(py::module_& m);
[[nodiscard]] std::vector<std::string>& left_out();

using Path = std::filesystem::path;

// Python objects that appear in type stubs by these names.
inline int is_object(PyObject*) { return 1; }
struct Anything : py::object {  // typing.Any
  PYBIND11_OBJECT_DEFAULT(Anything, py::object, is_object)
};
struct Array : py::object {  // a NumPy array
  PYBIND11_OBJECT_DEFAULT(Array, py::object, is_object)
};
struct Values : py::dict {  // values by name
  PYBIND11_OBJECT_DEFAULT(Values, py::dict, PyDict_Check)
};
using Options = py::KWArgs<Anything>;  // keywords
struct Measurements : py::list {       // rows, which a notebook shows as a table
  PYBIND11_OBJECT_DEFAULT(Measurements, py::list, PyList_Check)
  explicit Measurements(const std::vector<Measurement>& rows);
};

/// Converts a Python object to a tensor. A d5.Tensor stays as it is. NumPy arrays and objects with
/// `__dlpack__` (torch) are shared without a copy, and stay read-only if they are. Lists and
/// numbers are read by `numpy.asarray`. Data that is not dense row-major is copied.
[[nodiscard]] HeldTensor hold(const py::handle& object);
/// The same, for a tensor that is kept and written to: copies read-only and lent data.
[[nodiscard]] Tensor to_writable_tensor(const py::handle& object);
/// Converts lists to sequences, None to an absent value, everything else to tensors.
[[nodiscard]] Value to_value(const py::handle& object);
[[nodiscard]] ValueMap to_values(const Values& values);
/// Converts values to Python. Tensors share storage for as long as the lease holds. Sequences
/// become lists, optionals their content or None, maps dicts.
[[nodiscard]] Anything from_value(const Value& value, const SharedLease& lease = nullptr);
[[nodiscard]] Values from_values(const ValueMap& values, const SharedLease& lease = nullptr);
/// The same for one lent value.
[[nodiscard]] inline Anything lend(const Tensor& tensor, const SharedLease& lease) {
  return Anything(py::cast(HeldTensor{tensor, lease}));
}
/// The same, with storage of their own.
[[nodiscard]] Values copy_values(const ValueMap& values);

/// Converts int, float, str, lists of these, arrays and d5.Tensor to ONNX attributes.
[[nodiscard]] onnx::Attribute to_attribute(const py::handle& object);
[[nodiscard]] Anything from_attribute(const onnx::Attribute& attribute);

/// Keywords as the text that a recipe would contain, with lists and dicts nested in the same way.
[[nodiscard]] Settings to_settings(const py::kwargs& options);

/// Guards calls of Python from within d5's work; constructed before the GIL is taken. It counts
/// d5's own threads (which read samples and run nodes): the interpreter waits at its end for those
/// within Python and admits no more, because Python would unwind them, and C++ would abort. Python
/// threads that are left behind never get the GIL again, and block here.
class Visit {
 public:
  Visit();
  ~Visit();
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
  /// False for one of d5's own threads that came too late: it must not call Python.
  [[nodiscard]] bool is_let_in() const { return let_in_; }
  /// Throws: Interrupted in such a thread.
  void expect_let_in() const;

 private:
  bool counted_ = false, let_in_ = true;
};

/// A Python object in one short line, for messages. Call with the GIL.
[[nodiscard]] std::string shown(const py::handle& object);

/// Wraps a std::function or object that holds Python references, so that it can be destroyed
/// without the GIL.
struct PythonReference {
  explicit PythonReference(py::object held) : object(std::move(held)) {}
  ~PythonReference() {
    // At interpreter shutdown there is nothing left to release.
    if (!Py_IsInitialized()) {
      object.release();
      return;
    }
    const Visit visit;
    if (!visit.is_let_in()) {
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

/// For classes whose C++ destructor waits for threads that may be calling Python.
using ended_without_gil = py::release_gil_before_calling_cpp_dtor;

/// Whether the class of `object` overrides the method `name` of `base`, a class of d5.
[[nodiscard]] bool overrides(const py::handle& object, const char* base, const char* name);

}  // namespace d5::python

template <>
struct pybind11::detail::handle_type_name<d5::python::Anything> {
  static constexpr auto name = const_name("typing.Any");
};
template <>
struct pybind11::detail::handle_type_name<d5::python::Array> {
  static constexpr auto name = const_name("numpy.typing.NDArray[typing.Any]");
};
template <>
struct pybind11::detail::handle_type_name<d5::python::Values> {
  static constexpr auto name = const_name("dict[str, typing.Any]");
};
template <>
struct pybind11::detail::handle_type_name<d5::python::Measurements> {
  static constexpr auto name = const_name("d5.Measurements");
};
