// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/dataset.hpp"

#include <fmt/format.h>

#include "d5/core/error.hpp"
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
  const auto add = [](const std::string& name, const std::string& summary,
                      const SharedEntry& entry) {
    add_to(datasets(), name, summary, entry, [entry](const Interrupt&, const PythonOptions& own) {
      const py::gil_scoped_acquire gil;
      return entry->make(own, &pair_of, py::tuple());
    });
  };
  part_kinds().add("dataset", {.base = "Dataset", .needs = 0, .add = add});
}

}  // namespace d5::python
