// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "d5/onnx/model.hpp"

namespace d5::onnx {

/// A model as another library reads it: bytes in memory, or a file where one protobuf message does
/// not hold it. The file lies in a temporary folder, and goes with this.
class ModelImage {
 public:
  /// A file is written where initializers take more than `most_bytes`, the default a message's
  /// limit with a margin for the rest of a model. Throws: IoError; as `serialize` and `save`.
  explicit ModelImage(const Model& model, std::size_t most_bytes = std::size_t{3} << 29);
  ~ModelImage();
  ModelImage(const ModelImage&) = delete;
  ModelImage& operator=(const ModelImage&) = delete;

  /// Empty for one in a file.
  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  /// Of the file, or empty.
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string bytes_, folder_, path_;
};

}  // namespace d5::onnx
