// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <google/protobuf/message.h>

#include <limits>

#include "onnx/stages.hpp"

namespace d5::onnx::detail {

void parse_message(std::span<const std::byte> bytes, const Source& source,
                   google::protobuf::Message& message) {
  if (bytes.size() > std::size_t(std::numeric_limits<int>::max())) {
    source.fail(
        fmt::format("{} bytes, but a protobuf message holds at most 2^31 - 1; store the "
                    "tensors as external data",
                    bytes.size()));
  }
  if (!message.ParseFromArray(bytes.data(), int(bytes.size()))) {
    source.fail(
        fmt::format("{} bytes that are no {} message of protobuf: truncated, damaged, nested "
                    "too deeply, or another kind of file",
                    bytes.size(), message.GetDescriptor()->full_name()));
  }
}

}  // namespace d5::onnx::detail
