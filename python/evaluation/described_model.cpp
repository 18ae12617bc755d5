// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/manifest/described_model.hpp"

#include "evaluation_module.hpp"
#include "long_call.hpp"

namespace d5::python {

void bind_described_model(py::module_& m) {
  m.def(
      "described_model",
      [](const Path& file, const std::string& name) {
        std::string manifest;
        long_call([&](const Interrupt&) { manifest = described_model(file.string(), name); });
        return manifest;
      },
      py::arg("file"), py::arg("name") = "",
      "Writes the manifest (YAML) of a model for an ONNX file, with its digest, inputs and "
      "outputs: `d5 net describe`. By default it has the file's name. The steps are a guess; fill "
      "in the task and the licence.");
}

}  // namespace d5::python
