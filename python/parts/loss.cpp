// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/loss.hpp"

#include "part_kind.hpp"

namespace d5::python {

/// A function of the network and of the ends' names: it adds nodes.
void register_loss(py::module_&) {
  const auto add = [](const std::string& name, const std::string& summary,
                      const SharedEntry& entry) {
    add_to(losses(), name, summary, entry,
           [entry](Network& network, const LossEnds& ends, const PythonOptions& own) {
             const py::gil_scoped_acquire gil;
             entry->make(
                 own, [](const py::object&) { return 0; },
                 py::make_tuple(Network(network), ends.output, ends.target, ends.loss));
           });
  };
  part_kinds().add(losses().kind(), {.base = "", .needs = 4, .add = add});
}

}  // namespace d5::python
