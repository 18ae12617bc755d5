// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/training/checkpoint.hpp"

#include <fmt/format.h>

#include <utility>

#include "bindings.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::python {

void bind_checkpoint(py::module_& m) {
  py::class_<Checkpoint>(m, "Checkpoint", "The state of a training run at one moment.")
      .def(py::init([](const Values& tensors, std::string recipe, std::int64_t epoch,
                       std::int64_t batch, std::int64_t step) {
             for (const auto& [name, count] :
                  {std::pair("epoch", epoch), std::pair("batch", batch), std::pair("step", step)}) {
               if (count >= 0) continue;
               throw ValueError(
                   fmt::format("d5.Checkpoint: {} is {}, expected 0 or more", name, count));
             }
             return Checkpoint{.recipe = std::move(recipe),
                               .epoch = epoch,
                               .batch = batch,
                               .step = step,
                               .tensors = to_values(tensors)};
           }),
           py::arg("tensors"), py::kw_only(), py::arg("recipe") = "", py::arg("epoch") = 0,
           py::arg("batch") = 0, py::arg("step") = 0,
           "Makes a checkpoint. `tensors` are named as in the property of that name.")
      .def_readonly("recipe", &Checkpoint::recipe, "Checksum of the recipe.")
      .def_readonly("epoch", &Checkpoint::epoch, "Epoch of the next batch.")
      .def_readonly("batch", &Checkpoint::batch, "Index of the next batch in that epoch.")
      .def_readonly("step", &Checkpoint::step, "Batches since the beginning.")
      .def_property_readonly(
          "tensors", [](const Checkpoint& checkpoint) { return from_values(checkpoint.tensors); },
          "By name: \"parameter/NAME\", \"constant/NAME\", \"optimizer/NAME\", "
          "\"metric/METRIC/NAME\", ...")
      .def("__repr__", [](const Checkpoint& checkpoint) {
        return fmt::format("<d5.Checkpoint: epoch {}, step {}, {} tensors>", checkpoint.epoch,
                           checkpoint.step, checkpoint.tensors.size());
      });
  m.def(
      "read_checkpoint",
      [](const Path& path) {
        const py::gil_scoped_release released;
        return read_checkpoint(path.string());
      },
      py::arg("path"),
      "Reads a checkpoint. Raises IoError; FormatError, with the place, for a file that is "
      "truncated, changed, of another kind or newer.");
  m.def(
      "write_checkpoint",
      [](const Checkpoint& checkpoint, const Path& path) {
        const py::gil_scoped_release released;
        write_checkpoint(checkpoint, path.string());
      },
      py::arg("checkpoint"), py::arg("path"),
      "Replaces the file atomically: a crash leaves the old one or the new one.");
}

}  // namespace d5::python
