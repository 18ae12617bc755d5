// SPDX-License-Identifier: Apache-2.0
#include "d5/core/results/environment.hpp"

#include <fmt/format.h>

#include "bindings.hpp"
#include "d5/core/peak/machine_peak.hpp"
#include "d5/core/results/results.hpp"

namespace d5::python {

void bind_environment(py::module_& m) {
  const auto released = py::call_guard<py::gil_scoped_release>();
  py::class_<MachinePeak>(
      m, "MachinePeak",
      "Peak performance of this machine on d5's number of threads; 0 if it was never measured.")
      .def_readonly("float32_flop_rate", &MachinePeak::float32_flop_rate, "FLOP/s.")
      .def_readonly("float64_flop_rate", &MachinePeak::float64_flop_rate, "FLOP/s.")
      .def_readonly("byte_rate", &MachinePeak::byte_rate, "Memory bandwidth in bytes/s.")
      .def("__repr__", [](const MachinePeak& peak) {
        return fmt::format("<d5.MachinePeak: {:.4g} FLOP/s in float32, {:.4g} B/s>",
                           peak.float32_flop_rate, peak.byte_rate);
      });
  m.def("machine_peak", &machine_peak, released, "The peak that was measured and stored before.");
  m.def("measure_machine_peak", &measure_machine_peak, released,
        "Measures the peak for a second or two and stores it: `d5 env --peak`.");
  m.def(
      "_environment_json",
      [] {
        const py::gil_scoped_release release;
        return to_json(Results{environment(), {}});
      },
      "A results file without measurements.");
}

}  // namespace d5::python
