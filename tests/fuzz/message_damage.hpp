// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/core/tensor/random.hpp"

namespace google::protobuf {
class Message;
}

namespace d5::fuzz {

/// Sets a few fields of a message, at any depth, otherwise, takes them away, repeats or exchanges
/// them.
void change_fields(google::protobuf::Message& message, RandomStream& random);

/// The ONNX model in `bytes` with such changes.
[[nodiscard]] std::string with_other_fields(const std::string& bytes, RandomStream& random);

}  // namespace d5::fuzz
