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
  const auto make = [](const PythonEntry& entry, const std::shared_ptr<const Dataset>& data,
                       const PythonOptions& own) {
    return entry.make(own, &sampler_of, py::make_tuple(std::const_pointer_cast<Dataset>(data)));
  };
  part_kinds().add(samplers().kind(),
                   {.base = "Sampler", .needs = 1, .add = adding_to(samplers(), make)});
}

}  // namespace d5::python
