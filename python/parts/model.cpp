// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/models.hpp"
#include "part_kind.hpp"

namespace d5::python {
namespace {

Network network_of(const py::object& made) {
  if (!py::isinstance<Network>(made)) throw_made_other(made, "a d5.Network");
  return made.cast<const Network&>();
}

}  // namespace

void register_model(py::module_&) {
  const auto add = [](const std::string& name, const std::string& summary,
                      const SharedEntry& entry) {
    add_to(models(), name, summary, entry, [entry](const PythonOptions& own) {
      const py::gil_scoped_acquire gil;
      return entry->make(own, &network_of, py::tuple());
    });
  };
  part_kinds().add("model", {.base = "", .needs = 0, .add = add});
}

}  // namespace d5::python
