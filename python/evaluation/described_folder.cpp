// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/manifest/described_folder.hpp"

#include "evaluation/evaluation_module.hpp"
#include "long_call.hpp"

namespace d5::python {

void bind_described_folder(py::module_& m) {
  m.def(
      "described_folder",
      [](const Path& folder, const std::string& name) {
        std::string manifest;
        long_call([&](const Interrupt&) { manifest = described_folder(folder.string(), name); });
        return manifest;
      },
      py::arg("folder"), py::arg("name") = "",
      "The manifest (YAML) of a data set that is a folder of files, in a folder for each class, "
      "with "
      "digests: `d5 data describe`. Without a name it has the folder's. Task and licence are to be "
      "filled in.");
}

}  // namespace d5::python
