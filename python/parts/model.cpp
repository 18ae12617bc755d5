// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/source/models.hpp"
#include "part_kind.hpp"

namespace d5::python {
namespace {

Network network_of(const py::object& made) {
  if (!py::isinstance<Network>(made)) throw_made_other(made, "a d5.Network");
  return made.cast<const Network&>();
}

}  // namespace

void register_model(py::module_&) {
  const auto make = [](const PythonEntry& entry, const PythonOptions& own) {
    return entry.make(own, &network_of);
  };
  part_kinds().add("model", {.base = "", .needs = 0, .add = adding_to(models(), make)});
}

}  // namespace d5::python
