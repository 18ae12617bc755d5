// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/communicator/communication_resources.hpp"

#include <pybind11/typing.h>

#include "level3_distributed/started_calls.hpp"
#include "long_call.hpp"

namespace d5::python {
namespace {

using Start = py::typing::Callable<py::object()>;

Anything with_options(Communicator& ranks, const Start& start, const std::string& resources,
                      int priority, const std::string& label) {
  return ranks.with(
      CallOptions{.resources = resources_of(resources), .priority = priority, .label = label},
      [&] { return Anything(start()); });
}

}  // namespace

void bind_call_options(CommunicatorClass& communicator) {
  communicator.def(
      "with_options", &with_options, py::arg("start"), py::kw_only(),
      py::arg("resources") = "default", py::arg("priority") = 0, py::arg("label") = "",
      "Returns the result of `start`, and gives resources of the rank's processor to the calls "
      "that it starts: \"threads=1:chunk=64KiB:cores=0+1:waiting=spin:poll=10us\", or some of "
      "these settings (threads=0: the computing thread advances the call; waiting: usual, spin, "
      "yield, sleep; cores also shared or apart). All ranks give the same threads and chunk. Calls "
      "of higher priority advance first; events receive the label. The call's `used` reports the "
      "result: ranks.with_options(lambda: ranks.start_all_reduce(g), resources=\"threads=1\").");
}

}  // namespace d5::python
