// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/dataset.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "part_kind.hpp"

namespace d5::python {
namespace {

DatasetPair pair_of(const py::object& made) {
  constexpr const char* what = "a data set, or a tuple of two: for training and for tests";
  if (py::isinstance<DatasetPair>(made)) return made.cast<DatasetPair>();
  if (!py::isinstance<py::tuple>(made)) {
    return {.train = expected_part<Dataset>(made, what), .test = nullptr};
  }
  const py::tuple parts = made;
  if (parts.size() != 2)
    throw TypeError(fmt::format("it made {} parts; expected {}", parts.size(), what));
  return {.train = expected_part<Dataset>(parts[0], what),
          .test = expected_part<Dataset>(parts[1], what)};
}

}  // namespace

void register_dataset(py::module_&) {
  const auto make = [](const PythonEntry& entry, const Interrupt&, const PythonOptions& own) {
    return entry.make(own, &pair_of);
  };
  part_kinds().add(datasets().kind(),
                   {.base = "Dataset", .needs = 0, .add = adding_to(datasets(), make)});
}

}  // namespace d5::python
