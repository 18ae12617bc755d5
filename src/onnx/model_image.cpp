// SPDX-License-Identifier: Apache-2.0
#include "d5/onnx/model_image.hpp"

#include "core/files/scratch_folder.hpp"
#include "d5/onnx/file.hpp"

namespace d5::onnx {

ModelImage::ModelImage(const Model& model, std::size_t most_bytes) {
  std::size_t bytes = 0;
  for (const auto& [name, tensor] : model.graph.initializers) bytes += tensor.bytes();
  if (bytes <= most_bytes) {
    bytes_ = serialize(model);
    return;
  }
  folder_ = d5::detail::make_scratch_folder("model");
  path_ = folder_ + "/model.onnx";
  save(model, path_, {.external_data = true});
}

ModelImage::~ModelImage() {
  if (!folder_.empty()) d5::detail::remove_scratch_folder(folder_);
}

}  // namespace d5::onnx
