// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "d5/onnx/model.hpp"

namespace d5::onnx {

/// A serialized model for another library: bytes in memory, or a file if it exceeds a protobuf
/// message. The file is in a temporary folder, and removed with this object.
class ModelImage {
 public:
  /// Writes a file if the initializers take more than `most_bytes`. The default is a message's
  /// limit, less a margin for the rest of the model. Throws: IoError; as `serialize` and `save`.
  explicit ModelImage(const Model& model, std::size_t most_bytes = std::size_t{3} << 29);
  ~ModelImage();
  ModelImage(const ModelImage&) = delete;
  ModelImage& operator=(const ModelImage&) = delete;

  /// Empty if the model is in a file.
  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  /// The file's path; empty if the model is in memory.
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string bytes_, folder_, path_;
};

}  // namespace d5::onnx
