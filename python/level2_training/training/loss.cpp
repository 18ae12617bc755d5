// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/losses/loss.hpp"

#include "bindings.hpp"
#include "core/dtype_name.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level2_training/training/frozen_parameters.hpp"
#include "d5/level2_training/training/initial_values.hpp"
#include "declared_keywords.hpp"

namespace d5::python {

void bind_loss(py::module_& m) {
  m.def(
      "append_loss",
      [](Network& network, const std::string& name, std::string output, std::string target,
         const DTypeName& target_type, std::vector<onnx::Dim> target_shape, std::string loss,
         const Options& options) {
        append_loss(network, name,
                    {.output = std::move(output),
                     .target = std::move(target),
                     .target_type = dtype_from_name(target_type.name),
                     .target_dims = std::move(target_shape),
                     .loss = std::move(loss)},
                    entry_settings(options, "d5.append_loss", losses(), name));
      },
      py::arg("network"), py::arg("name"), py::kw_only(), py::arg("output") = "",
      py::arg("target") = "label", py::arg("target_type") = DTypeName{"int64"},
      py::arg("target_shape") = std::vector<onnx::Dim>(), py::arg("loss") = "loss",
      "Ends a network in a loss (one of losses()), so that it can be trained. The loss compares "
      "its only output, or `output`, with an input `target`, which is added if it does not exist.");
  m.def("without_loss", &without_loss, py::arg("network"), py::arg("loss") = "loss",
        "A copy of the network without that output and the nodes that served it alone.");
  m.def("losses", [] { return losses().names(); });
  m.def(
      "freeze",
      [](Network& network, const std::vector<std::string>& patterns) {
        if (patterns.empty()) {
          throw ValueError(
              "d5.freeze: patterns is [], expected one or more, such as \"features.*\"");
        }
        return freeze(network, patterns);
      },
      py::arg("network"), py::arg("patterns"),
      "Turns parameters that match a pattern such as \"features.*\" into constants; returns "
      "their names.");
  m.def("_freeze_parameters", &freeze_parameters, py::arg("network"), py::arg("names"));
  m.def(
      "take_values",
      [](Network& network, const Path& path, bool skip_differing) {
        const TakenValues values =
            take_values(network, {.path = path.string(),
                                  .differing = skip_differing ? InitialValues::Differing::leave
                                                              : InitialValues::Differing::refuse});
        return std::map<std::string, std::vector<std::string>>{{"taken", values.taken},
                                                               {"left", values.left},
                                                               {"unused", values.unused},
                                                               {"differing", values.differing}};
      },
      py::arg("network"), py::arg("path"), py::kw_only(), py::arg("skip_differing") = false,
      "Loads parameters and running statistics by name from a safetensors file, a checkpoint or an "
      "ONNX file. Returns the names that were loaded, left as they were, unused, and differing in "
      "shape or type, which is an error unless they are skipped.");
  m.def("unfreeze", &unfreeze, py::arg("network"), py::arg("names"),
        "Turns these constants into parameters again.");
}

}  // namespace d5::python
