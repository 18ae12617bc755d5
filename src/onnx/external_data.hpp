// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <span>
#include <string>

#include "onnx/source.hpp"

namespace d5::onnx::detail {

[[nodiscard]] bool is_external(const ::onnx::TensorProto& tensor);

/// A tensor's bytes in a file beside the model.
///
/// The file must be a regular file inside the model's folder, by its real path: no absolute path,
/// no "..", no link that leads outside.
class ExternalData {
 public:
  /// Checks that the file contains `bytes` bytes at the tensor's offset, without reading. Throws:
  /// FormatError, IoError.
  ExternalData(const ::onnx::TensorProto& tensor, const Source& source, std::size_t bytes);
  ~ExternalData();
  ExternalData(const ExternalData&) = delete;
  ExternalData& operator=(const ExternalData&) = delete;

  /// Fills `into`, whose size is that given to the constructor. Throws: IoError.
  void read(std::span<std::uint8_t> into) const;

 private:
  void check(const ::onnx::TensorProto& tensor, const Source& source, std::size_t bytes);

  std::string path_;
  std::uint64_t offset_ = 0;
  int fd_ = -1;
};

}  // namespace d5::onnx::detail
