// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/sampler.hpp"
#include "level2_training/data/python_sampler.hpp"
#include "part_kind.hpp"

namespace d5::python {

void register_sampler(py::module_&) {
  const auto make = [](const PythonEntry& entry, const std::shared_ptr<const Dataset>& data,
                       const PythonOptions& own) {
    return entry.make(own, &to_sampler, py::make_tuple(std::const_pointer_cast<Dataset>(data)));
  };
  part_kinds().add(samplers().kind(),
                   {.base = "Sampler", .needs = 1, .add = adding_to(samplers(), make)});
}

}  // namespace d5::python
