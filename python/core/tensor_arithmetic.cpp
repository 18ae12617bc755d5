// SPDX-License-Identifier: Apache-2.0
// NumPy's functions and Python's operators on tensors: they read and write the tensors' memory, and
// return NumPy arrays.
#include <array>

#include "bindings.hpp"

namespace d5::python {
namespace {

/// A Python operator and the NumPy function that it calls; the reflected form (`r`) is made, too.
struct Binary {
  const char *name, *function;
};
constexpr std::array kBinary = {Binary{"add", "add"},           Binary{"sub", "subtract"},
                                Binary{"mul", "multiply"},      Binary{"truediv", "true_divide"},
                                Binary{"mod", "remainder"},     Binary{"floordiv", "floor_divide"},
                                Binary{"pow", "power"},         Binary{"matmul", "matmul"},
                                Binary{"and", "bitwise_and"},   Binary{"or", "bitwise_or"},
                                Binary{"xor", "bitwise_xor"},   Binary{"lshift", "left_shift"},
                                Binary{"rshift", "right_shift"}};
constexpr std::array kComparisons = {Binary{"eq", "equal"},   Binary{"ne", "not_equal"},
                                     Binary{"lt", "less"},    Binary{"le", "less_equal"},
                                     Binary{"gt", "greater"}, Binary{"ge", "greater_equal"}};
constexpr std::array kUnary = {Binary{"neg", "negative"}, Binary{"pos", "positive"},
                               Binary{"abs", "absolute"}, Binary{"invert", "invert"}};

py::object array_or_itself(const py::handle& object) {
  if (!held_tensor(object)) return py::reinterpret_borrow<py::object>(object);
  return object.attr("numpy")();
}

/// An object that implements operators with arrays itself, such as torch's tensors.
bool defers_to(const py::object& other) {
  return !held_tensor(other) && py::hasattr(other, "__array_ufunc__") &&
         other.attr("__array_ufunc__").is_none();
}

Anything call(const char* function, const py::object& a, const py::object& b) {
  if (defers_to(a) || defers_to(b)) {
    return py::reinterpret_borrow<Anything>(py::handle(Py_NotImplemented));
  }
  return Anything(
      py::module_::import("numpy").attr(function)(array_or_itself(a), array_or_itself(b)));
}

/// NumPy's protocol: `function` is a universal function, `method` the way it is called.
Anything call_universal(const py::object& /*self*/, const Anything& function,
                        const std::string& method, const py::args& inputs,
                        const py::kwargs& options) {
  py::list arrays;
  for (const auto& input : inputs) arrays.append(array_or_itself(input));
  if (options.contains("out")) {
    py::list outputs;
    for (const auto& output : py::tuple(options["out"])) outputs.append(array_or_itself(output));
    options["out"] = py::tuple(outputs);
  }
  return Anything(function.attr(method.c_str())(*py::tuple(arrays), **options));
}

}  // namespace

void bind_tensor_arithmetic(py::class_<HeldTensor>& tensor) {
  const auto other = py::arg("other");
  for (const auto& [name, function] : kBinary) {
    const std::string op = name;
    tensor.def(("__" + op + "__").c_str(),
               [function](const py::object& self, const Anything& other) {
                 return call(function, self, other);
               },
               other);
    tensor.def(("__r" + op + "__").c_str(),
               [function](const py::object& self, const Anything& other) {
                 return call(function, other, self);
               },
               other);
    tensor.def(("__i" + op + "__").c_str(),
               [function](const py::object& self, const Anything& other) {
                 const py::object into = array_or_itself(self);
                 py::module_::import("numpy").attr(function)(into, array_or_itself(other),
                                                             py::arg("out") = into);
                 return py::reinterpret_borrow<Anything>(self);
               },
               other);
  }
  for (const auto& [name, function] : kComparisons) {
    tensor.def(("__" + std::string(name) + "__").c_str(),
               [function](const py::object& self, const Anything& other) {
                 return call(function, self, other);
               },
               other);
  }
  for (const auto& [name, function] : kUnary) {
    tensor.def(("__" + std::string(name) + "__").c_str(), [function](const py::object& self) {
      return Anything(py::module_::import("numpy").attr(function)(array_or_itself(self)));
    });
  }
  tensor.def("__array_ufunc__", &call_universal);
}

}  // namespace d5::python
