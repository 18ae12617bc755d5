// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <string>

#include "d5/core/files/atomic_file.hpp"
#include "d5/onnx/file.hpp"

namespace d5::onnx::detail {

/// Whether one is asked for, or the initializers, those of graphs within the graph too, are more
/// than a message holds.
[[nodiscard]] bool needs_data_file(const Graph& graph, const SaveOptions& options);

/// Initializers' bytes in a file beside the model, as `ExternalData` reads them.
class DataFile {
 public:
  /// Throws: IoError.
  DataFile(const std::string& path, std::size_t least_bytes);
  /// Smaller tensors, and strings, go into the message. Throws: IoError.
  void write(const Tensor& tensor, const std::string& name, ::onnx::TensorProto& proto);
  /// The file takes its place. Throws: IoError.
  void commit() { file_.commit(); }

 private:
  ReplacedFile file_;
  std::string location_;  ///< as models in the same folder say it
  std::size_t least_bytes_;
  std::uint64_t end_ = 0;
};

}  // namespace d5::onnx::detail
