// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <pybind11/numpy.h>

#include "bindings.hpp"
#include "d5/core/core.hpp"

namespace d5::python {
namespace {

/// An exception class in Python that is d5's base and Python's own matching type at once.
template <class E>
void bind_error(py::module_& m, const char* name, const py::object& base, PyObject* python_type) {
  const py::tuple bases = py::make_tuple(base, py::reinterpret_borrow<py::object>(python_type));
  py::register_exception<E>(m, name, bases);
}

void bind_errors(py::module_& m) {
  // Translators are asked in reverse order: the base comes first.
  const py::object base = py::register_exception<Error>(m, "Error");
  bind_error<ShapeError>(m, "ShapeError", base, PyExc_ValueError);
  bind_error<TypeError>(m, "TypeError", base, PyExc_TypeError);
  bind_error<ValueError>(m, "ValueError", base, PyExc_ValueError);
  bind_error<NotFound>(m, "NotFound", base, PyExc_LookupError);
  bind_error<Unsupported>(m, "Unsupported", base, PyExc_NotImplementedError);
  bind_error<IoError>(m, "IoError", base, PyExc_OSError);
  bind_error<FormatError>(m, "FormatError", base, PyExc_ValueError);
  bind_error<MemoryError>(m, "MemoryError", base, PyExc_MemoryError);
  bind_error<NumericError>(m, "NumericError", base, PyExc_ArithmeticError);
  bind_error<CommunicationError>(m, "CommunicationError", base, PyExc_ConnectionError);
}

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

py::object to_numpy(const Tensor& tensor) {
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

void bind_tensor(py::module_& m) {
  py::class_<Tensor>(m, "Tensor", "A dense array; shares memory with NumPy and torch (DLPack).")
      .def(py::init([](const py::object& array) { return to_tensor(array); }), py::arg("array"),
           "Shares the memory of `array` where it is dense and writable, and copies otherwise.")
      .def_property_readonly("shape",
                             [](const Tensor& t) {
                               return py::tuple(py::cast(
                                   std::vector<std::int64_t>(t.shape().begin(), t.shape().end())));
                             })
      .def_property_readonly("dtype",
                             [](const Tensor& t) { return std::string(name_of(t.dtype())); })
      .def_property_readonly("nbytes", &Tensor::bytes)
      .def("numpy", &to_numpy, "A NumPy array over the same memory; no copy (strings are copied).")
      .def(
          "copy", [](const Tensor& t) { return t.copy(); }, "A tensor with memory of its own.")
      .def(
          "copy_from", [](Tensor& t, const py::object& array) { t.copy_from(to_tensor(array)); },
          py::arg("array"), "Overwrites the elements; shape and type must agree.")
      .def("item", [](const Tensor& t) { return to_numpy(t).attr("item")(); })
      .def("__float__", [](const Tensor& t) { return py::float_(to_numpy(t).attr("item")()); })
      .def("__len__",
           [](const Tensor& t) {
             if (t.shape().rank() == 0) throw ShapeError("a scalar has no length");
             return t.shape()[0];
           })
      .def("__array__",
           [](const Tensor& t, const py::args&, const py::kwargs& options) {
             const py::object array = to_numpy(t);
             if (options.contains("dtype") && !options["dtype"].is_none()) {
               return py::object(array.attr("astype")(options["dtype"]));
             }
             return array;
           })
      .def("__dlpack__", [](const Tensor& t, const py::kwargs&) { return to_capsule(t); })
      .def("__dlpack_device__",
           [](const Tensor& t) { return py::make_tuple(int(t.device().kind), t.device().index); })
      .def("__repr__", [](const Tensor& t) { return "d5.Tensor(" + to_string(t) + ")"; });
}

void bind_measurement(py::module_& m) {
  py::class_<Measurement>(m, "Measurement", "What was run, where, all samples, status and reason.")
      .def(py::init<>())
      .def_readwrite("subject", &Measurement::subject)
      .def_readwrite("command", &Measurement::command)
      .def_readwrite("level", &Measurement::level)
      .def_readwrite("framework", &Measurement::framework)
      .def_readwrite("metric", &Measurement::metric)
      .def_readwrite("unit", &Measurement::unit)
      .def_property_readonly("quantity",
                             [](const Measurement& r) { return std::string(name_of(r.quantity)); })
      .def_property_readonly("statistic",
                             [](const Measurement& r) { return to_string(r.statistic); })
      .def_readwrite("samples", &Measurement::samples)
      .def_readwrite("reason", &Measurement::reason)
      .def_property_readonly("conditions",
                             [](const Measurement& r) {
                               return std::map<std::string, std::string>(r.conditions.begin(),
                                                                         r.conditions.end());
                             })
      .def_property_readonly("status",
                             [](const Measurement& r) { return std::string(name_of(r.status)); })
      .def_property_readonly("median",
                             [](const Measurement& r) { return summarise(r.samples).median; })
      .def_property_readonly(
          "value", [](const Measurement& r) { return estimate(r).value; },
          "The number that stands for the samples, as `statistic` says.")
      .def_property_readonly(
          "interval",
          [](const Measurement& r) {
            const Interval i = estimate(r).interval;
            return std::pair(i.low, i.high);
          },
          "95% interval of `value`; NaN where it has none.")
      .def("__repr__", [](const Measurement& r) {
        return fmt::format("<Measurement {} {} {}: {} samples, {}>", r.subject, r.framework,
                           r.metric, r.samples.size(), name_of(r.status));
      });

  m.def(
      "measure",
      [](const std::function<void()>& run, const std::string& name,
         const std::vector<std::string>& metrics, int samples, int warmup,
         double seconds_per_sample) {
        std::exception_ptr ended_by;  // KeyboardInterrupt, SystemExit: nobody's failure
        const Subject subject{.record = {.subject = name}, .run = [&] {
                                try {
                                  run();
                                } catch (py::error_already_set& error) {
                                  if (error.matches(PyExc_Exception)) throw;
                                  ended_by = std::current_exception();
                                  throw Interrupted("ended by Python");
                                }
                              }};
        auto results = measure(
            {subject}, {metrics.begin(), metrics.end()},
            {.samples = samples, .warmup = warmup, .seconds_per_sample = seconds_per_sample});
        if (ended_by) std::rethrow_exception(ended_by);
        return results;
      },
      py::arg("run"), py::arg("name") = "python",
      py::arg("metrics") = std::vector<std::string>{"time"}, py::arg("samples") = 30,
      py::arg("warmup") = 3, py::arg("seconds_per_sample") = 1e-4,
      "Measures a Python callable the way d5 measures; one row a metric.");
  m.def("metrics", [] { return metrics().names(); }, "Names of all metrics.");
  m.def(
      "to_table",
      [](const std::vector<Measurement>& measurements) { return to_table(measurements); },
      py::arg("measurements"), "The console table of some measurements.");
  m.def(
      "write_results",
      [](const std::vector<Measurement>& measurements, const std::string& path) {
        write_results({environment(), measurements}, path);
      },
      py::arg("measurements"), py::arg("path"));
  m.def(
      "read_results", [](const std::string& path) { return read_results(path).measurements; },
      py::arg("path"));
}

}  // namespace

void bind_core(py::module_& m) {
  bind_errors(m);
  bind_tensor(m);
  bind_measurement(m);
  m.def("threads", &threads, "Threads that d5 and every loaded framework compute with.");
  m.def("set_threads", &set_threads, py::arg("count"));
  m.def(
      "frameworks",
      [] {
        std::vector<std::string> names;
        for (const auto& info : frameworks()) names.push_back(info.name);
        return names;
      },
      "Names of the frameworks that can be used.");
  m.def("set_memory_budget", &set_memory_budget, py::arg("bytes"));
}

}  // namespace d5::python
