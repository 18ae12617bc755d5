// SPDX-License-Identifier: Apache-2.0
#include "d5/onnx/model_image.hpp"

#include <stdlib.h>

#include <filesystem>

#include "d5/core/error.hpp"
#include "d5/onnx/file.hpp"

namespace d5::onnx {

namespace fs = std::filesystem;

ModelImage::ModelImage(const Model& model, std::size_t most_bytes) {
  std::size_t bytes = 0;
  for (const auto& [name, tensor] : model.graph.initializers) bytes += tensor.bytes();
  if (bytes <= most_bytes) {
    bytes_ = serialize(model);
    return;
  }
  folder_ = fs::temp_directory_path() / "d5-model-XXXXXX";
  if (!mkdtemp(folder_.data())) {
    throw IoError("no folder can be made in " + fs::temp_directory_path().string());
  }
  path_ = folder_ + "/model.onnx";
  save(model, path_, {.external_data = true});
}

ModelImage::~ModelImage() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

}  // namespace d5::onnx
