// SPDX-License-Identifier: Apache-2.0
#include "d5/core/core.hpp"
#include "bindings.hpp"

namespace d5::python {
namespace {

/// C++'s error arrives as the class of that name in d5.errors.
template <class E>
void bind_error(const char* name) {
  static const py::handle type = py::object(py::module_::import("d5.errors").attr(name)).release();
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (const E& error) {
      py::set_error(type, error.what());
    }
  });
}

void bind_errors() {
  // Translators are asked in reverse order: the base comes first.
  bind_error<Error>("Error");
  bind_error<ShapeError>("ShapeError");
  bind_error<TypeError>("TypeError");
  bind_error<ValueError>("ValueError");
  bind_error<NotFound>("NotFound");
  bind_error<Unsupported>("Unsupported");
  bind_error<IoError>("IoError");
  bind_error<FormatError>("FormatError");
  bind_error<MemoryError>("MemoryError");
  bind_error<NumericError>("NumericError");
  bind_error<CommunicationError>("CommunicationError");
}

}  // namespace

void bind_core(py::module_& m) {
  bind_errors();
  m.def("threads", &threads, "Threads that d5 and every loaded framework compute with.");
  m.def("set_threads", &set_threads, py::arg("count"));
  m.def(
      "frameworks",
      [] {
        std::vector<std::string> names;
        for (const auto& info : frameworks()) {
          if (info.reason.empty()) names.push_back(info.name);
        }
        return names;
      },
      py::call_guard<py::gil_scoped_release>(), "Names of the frameworks that can be used.");
  m.def("set_memory_budget", &set_memory_budget, py::arg("bytes"));
}

}  // namespace d5::python
