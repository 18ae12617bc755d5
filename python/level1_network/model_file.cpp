// SPDX-License-Identifier: Apache-2.0
#include "level1_network/model_file.hpp"

#include <cctype>

#include "d5/core/errors/error.hpp"

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

/// Throws `text` as an E if the error is one.
template <class E>
void throw_if(const Error& error, const std::string& text) {
  if (dynamic_cast<const E*>(&error)) throw E(text);
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

std::string ModelFile::renamed(std::string text) const {
  const std::string name = Path(word_).filename().string();
  for (std::size_t at = text.find(word_); at != std::string::npos; at = text.find(word_)) {
    text.replace(at, word_.size(), name);
  }
  return text;
}

void ModelFile::run(const std::function<void()>& work) const {
  try {
    work();
  } catch (const Error& error) {
    const std::string text = error.what();
    if (!folder_ || text.find(word_) == std::string::npos) throw;
    throw_if<ShapeError>(error, renamed(text));
    throw_if<TypeError>(error, renamed(text));
    throw_if<ValueError>(error, renamed(text));
    throw_if<NotFound>(error, renamed(text));
    throw_if<Unsupported>(error, renamed(text));
    throw_if<IoError>(error, renamed(text));
    throw_if<FormatError>(error, renamed(text));
    throw_if<MemoryError>(error, renamed(text));
    throw_if<NumericError>(error, renamed(text));
    throw Error(renamed(text));
  }
}

void ModelFile::rename_in(std::vector<Measurement>& rows) const {
  if (!folder_) return;
  for (auto& row : rows) {
    row.command = renamed(row.command);
    row.reason = renamed(row.reason);
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
