// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/sampler.hpp"
#include "part_kind.hpp"

namespace d5::python {
namespace {

/// The sampler in Python lives as long as C++ holds it.
std::shared_ptr<Sampler> sampler_of(const py::object& made) {
  const auto owner = std::make_shared<PythonReference>(made);
  return {owner, expected_part<Sampler>(made, "a d5.Sampler").get()};
}

}  // namespace

void register_sampler(py::module_&) {
  const auto add = [](const std::string& name, const std::string& summary,
                      const SharedEntry& entry) {
    add_to(samplers(), name, summary, entry,
           [entry](std::shared_ptr<const Dataset> data, const PythonOptions& own) {
             const py::gil_scoped_acquire gil;
             const py::object of = py::cast(std::const_pointer_cast<Dataset>(data));
             return entry->make(own, &sampler_of, py::make_tuple(of));
           });
  };
  part_kinds().add("sampler", {.base = "Sampler", .needs = 1, .add = add});
}

}  // namespace d5::python
