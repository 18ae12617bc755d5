// SPDX-License-Identifier: Apache-2.0
// What is put around a communicator.
#include <chrono>
#include <cmath>

#include "bindings.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/decorators/call_order.hpp"
#include "d5/level3_distributed/decorators/call_timeout.hpp"
#include "d5/level3_distributed/decorators/fault_injection.hpp"
#include "d5/level3_distributed/decorators/wire_model.hpp"

namespace d5::python {
namespace {

using SharedRanks = std::shared_ptr<Communicator>;

std::chrono::nanoseconds nanoseconds(double seconds) {
  if (!(seconds >= 0 && seconds < 9e9)) {
    throw ValueError("a time of " + std::to_string(seconds) + " s; expected 0 or more");
  }
  return std::chrono::nanoseconds(std::llround(seconds * 1e9));
}

SharedRanks with_timeout(SharedRanks ranks, double seconds) {
  return std::make_shared<CallTimeout>(std::move(ranks),
                                       CallTimeoutOptions{.timeout = nanoseconds(seconds)});
}

SharedRanks with_wire(SharedRanks ranks, const std::string& wire) {
  const WireOptions options = wire_of(wire);
  return std::make_shared<WireModel>(std::move(ranks), options);
}

SharedRanks with_fault(SharedRanks ranks, const std::string& fault) {
  const FaultOptions options = fault_of(fault);
  return std::make_shared<FaultInjection>(std::move(ranks), options);
}

SharedRanks with_call_order(SharedRanks ranks) {
  return std::make_shared<CallOrder>(std::move(ranks));
}

}  // namespace

void bind_communicator_decorators(py::module_& m) {
  const auto released = py::call_guard<py::gil_scoped_release>();
  m.def("with_timeout", &with_timeout, py::arg("ranks").none(false), py::arg("seconds"), released,
        "The communicator, whose waits end with a CommunicationError that says who is missing. A "
        "collective, as are those below.");
  m.def("with_wire", &with_wire, py::arg("ranks").none(false), py::arg("wire"), released,
        "Delays what ranks say to each other as a network would: \"50us,1GB/s\".");
  m.def("with_call_order", &with_call_order, py::arg("ranks").none(false), released,
        "Compares each collective between ranks before it begins: where they differ, all get an "
        "error that names the calls.");
  m.def("with_fault", &with_fault, py::arg("ranks").none(false), py::arg("fault"), released,
        "Does something wrong once: \"delay:rank=0,step=3,seconds=0.5\".");
  m.def("set_world", &set_world, py::arg("ranks").none(false), released,
        "d5.world() is this from now on: itself, with decorators around it. On all ranks, before "
        "others ask for it.");
}

}  // namespace d5::python
