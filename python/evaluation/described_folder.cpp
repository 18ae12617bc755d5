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
      "Writes the manifest (YAML) of a data set, with digests, for a folder with a sub-folder of "
      "files for each class: `d5 data describe`. Labels count the sub-folders in alphabetical "
      "order "
      "from 0: a network's outputs need that order. By default it has the folder's name. Fill in "
      "the task and the licence.");
}

}  // namespace d5::python
