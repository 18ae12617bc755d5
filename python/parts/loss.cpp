// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/losses/loss.hpp"

#include "part_kind.hpp"

namespace d5::python {

/// A loss is a function of the network and of the names of its ends, which adds nodes.
void register_loss(py::module_&) {
  const auto make = [](const PythonEntry& entry, Network& network, const LossEnds& ends,
                       const PythonOptions& own) {
    entry.make(
        own, [](const py::object&) { return 0; },
        py::make_tuple(Network(network), ends.output, ends.target, ends.loss));
  };
  part_kinds().add(losses().kind(), {.base = "", .needs = 4, .add = adding_to(losses(), make)});
}

}  // namespace d5::python
