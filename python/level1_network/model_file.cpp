// SPDX-License-Identifier: Apache-2.0
#include "level1_network/model_file.hpp"

#include <cctype>

namespace d5::python {
namespace {

/// A network's name as the name of a file.
std::string file_name(const Network& network) {
  std::string name = network.name();
  for (char& letter : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(letter)) || letter == '-';
    if (!plain) letter = '_';
  }
  return name.empty() ? "network" : name.substr(0, 100);
}

}  // namespace

ModelFile::ModelFile(const NetworkOrFile& model) {
  if (const auto* path = std::get_if<Path>(&model)) {
    word_ = path->string();
    return;
  }
  const auto& network = std::get<Network>(model);
  folder_ = py::module_::import("tempfile")
                .attr("TemporaryDirectory")(py::arg("prefix") = "d5-model-",
                                            py::arg("ignore_cleanup_errors") = true);
  word_ = Path(folder_.attr("name").cast<std::string>()) / (file_name(network) + ".onnx");
  const py::gil_scoped_release released;
  network.save(word_);
}

void ModelFile::rename_in(std::vector<Measurement>& rows) const {
  if (!folder_) return;
  const std::string name = Path(word_).filename().string();
  for (auto& row : rows) {
    const std::size_t place = row.command.find(word_);
    if (place != std::string::npos) row.command.replace(place, word_.size(), name);
  }
}

ModelFile::~ModelFile() {
  if (!folder_) return;
  try {
    folder_.attr("cleanup")();
  } catch (const py::error_already_set&) {  // the folder stays
  }
}

}  // namespace d5::python
