// SPDX-License-Identifier: Apache-2.0
// Decorators of communicators.
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

void end_calls(Communicator& compared) { dynamic_cast<CallOrder&>(compared).end(); }

}  // namespace

void bind_communicator_decorators(py::module_& m) {
  const auto released = py::call_guard<py::gil_scoped_release>();
  m.def("with_timeout", &with_timeout, py::arg("ranks").none(false), py::arg("seconds"), released,
        "The communicator with a time limit for waits, which then raise a CommunicationError that "
        "names the missing ranks. A collective, like the functions below.");
  m.def("with_wire", &with_wire, py::arg("ranks").none(false), py::arg("wire"), released,
        "The communicator with messages delayed as by a network: \"50us,1GB/s\".");
  m.def("with_call_order", &with_call_order, py::arg("ranks").none(false), released,
        "The communicator with a comparison of each collective between ranks before it begins: if "
        "they differ, all get an error that names the calls.");
  m.def("_end_calls", &end_calls, py::arg("compared"), released);  // d5.launch calls it
  m.def("with_fault", &with_fault, py::arg("ranks").none(false), py::arg("fault"), released,
        "The communicator with one injected fault: \"delay:rank=0,step=3,seconds=0.5\".");
  m.def("set_world", &set_world, py::arg("ranks").none(false), released,
        "Replaces d5.world() by `ranks`: itself, with decorators around it. Call on all ranks, "
        "before others use it.");
}

}  // namespace d5::python
