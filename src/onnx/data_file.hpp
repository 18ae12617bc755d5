// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <string>

#include "d5/core/files/atomic_file.hpp"
#include "d5/onnx/file.hpp"

namespace d5::onnx::detail {

/// Whether a data file is requested, or the initializers, including those of nested graphs, exceed
/// a message.
[[nodiscard]] bool needs_data_file(const Graph& graph, const SaveOptions& options);

/// Writes initializers to a file beside the model, as read by `ExternalData`.
class DataFile {
 public:
  /// Throws: IoError.
  DataFile(const std::string& path, std::size_t least_bytes);
  /// Writes smaller tensors, and strings, to the message. Throws: IoError.
  void write(const Tensor& tensor, const std::string& name, ::onnx::TensorProto& proto);
  /// Renames the file to its final name. Throws: IoError.
  void commit() { file_.commit(); }

 private:
  ReplacedFile file_;
  std::string location_;  ///< path relative to the model's folder
  std::size_t least_bytes_;
  std::uint64_t end_ = 0;
};

}  // namespace d5::onnx::detail
