// SPDX-License-Identifier: Apache-2.0
// Lets non-Python programs load Python files (`add_extension_loader`): it starts an interpreter, in
// which `import d5` adds the loader.
#include <dlfcn.h>
#include <fmt/format.h>
#include <pybind11/embed.h>

#include "d5/core/errors/error.hpp"

namespace py = pybind11;

namespace {

/// C extension modules look for the interpreter's functions among the process's global symbols.
void show_interpreter_to_modules() {
  Dl_info info{};
  dladdr(reinterpret_cast<const void*>(&Py_IsInitialized), &info);
  dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
}

/// Like `python3` on the search path, so that the packages of its environment are found.
void start_interpreter() {
  PyConfig config;
  PyConfig_InitPythonConfig(&config);
  config.install_signal_handlers = 0;  // the program handles signals
  config.parse_argv = 0;
  PyConfig_SetBytesString(&config, &config.program_name, "python3");
  py::initialize_interpreter(&config, 0, nullptr, false);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void d5_start_loader() {
  show_interpreter_to_modules();
  start_interpreter();
  std::string reason;
  try {
    py::module_::import("d5").attr("_d5").attr("_serve_program")();
  } catch (const py::error_already_set& raised) {
    reason = raised.what();
  }
  (void)PyEval_SaveThread();  // callers of Python take the GIL; the interpreter stays
  if (reason.empty()) return;
  throw d5::Unsupported(
      fmt::format("Python files need the module d5 in the environment of 'python3' (or its folder "
                  "in PYTHONPATH): {}",
                  d5::printable_message(reason)));
}
