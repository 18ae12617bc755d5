// SPDX-License-Identifier: Apache-2.0
#include "explained.hpp"

#include <string>
#include <unordered_map>
#include <vector>

namespace d5::python {
namespace {

/// Python's vectorcall of a built-in function: positional arguments, then those of `names`.
using FastCall = PyObject* (*)(PyObject* self, PyObject* const* given, Py_ssize_t count,
                               PyObject* names);

struct Method {
  py::handle made;
  const char* name = nullptr;
};

/// pybind11's, which chooses the overload.
FastCall dispatch = nullptr;

/// Methods that explain their wrong calls, by the `self` of their built-in function.
std::unordered_map<PyObject*, Method>& explained() {
  static std::unordered_map<PyObject*, Method> methods;
  return methods;
}

/// Raises the error of a wrong call, or `raised` again if that is another.
void explain(const Method& method, const py::error_already_set& raised, PyObject* const* given,
             Py_ssize_t count, PyObject* names) {
  py::tuple places(count);
  for (Py_ssize_t i = 0; i < count; ++i) places[i] = py::handle(given[i]);
  py::dict keywords;
  const Py_ssize_t named = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
  for (Py_ssize_t i = 0; i < named; ++i) {
    keywords[py::handle(PyTuple_GET_ITEM(names, i))] = py::handle(given[count + i]);
  }
  py::module_::import("d5._words")
      .attr("explain")(method.made, method.name, raised.value(), places, keywords);
}

/// Raises the error of a call that failed, explained if it is of a wrong call.
[[gnu::cold, gnu::noinline]] PyObject* failed_call(PyObject* self, PyObject* const* given,
                                                   Py_ssize_t count, PyObject* names) {
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) return nullptr;
  const py::error_already_set raised;
  try {
    explain(explained().at(self), raised, given, count, names);
  } catch (py::error_already_set& error) {
    error.restore();
  }
  return nullptr;
}

/// Stands in for `dispatch`. Right calls pay for one more call of a function alone.
PyObject* explained_call(PyObject* self, PyObject* const* given, Py_ssize_t count,
                         PyObject* names) {
  PyObject* const result = dispatch(self, given, count, names);
  return result != nullptr ? result : failed_call(self, given, count, names);
}

void explain_wrong_call(const py::object& made, const char* name) {
  const py::object method = made.attr(name);
  PyObject* const function = PyInstanceMethod_GET_FUNCTION(method.ptr());
  PyMethodDef& definition = *reinterpret_cast<PyCFunctionObject*>(function)->m_ml;
  // Before 3.1 pybind11 has another convention; then `d5._words` wraps the method.
  if (definition.ml_flags != (METH_FASTCALL | METH_KEYWORDS)) return;
  dispatch = reinterpret_cast<FastCall>(reinterpret_cast<void (*)()>(definition.ml_meth));
  definition.ml_meth = reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&explained_call));
  explained().emplace(PyCFunction_GET_SELF(function), Method{made, name});
}

std::vector<std::string> names_of_explained() {
  std::vector<std::string> names;
  for (const auto& [self, method] : explained()) {
    names.push_back(method.made.attr("__name__").cast<std::string>() + "." + method.name);
  }
  return names;
}

}  // namespace

void explain_wrong_calls(const py::object& made, std::initializer_list<const char*> methods) {
  for (const char* name : methods) explain_wrong_call(made, name);
}

void bind_explained(py::module_& m) {
  m.def("_explained", &names_of_explained,
        "Methods that explain their wrong calls: \"Tensor.numpy\".");
}

}  // namespace d5::python
