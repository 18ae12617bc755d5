// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include "d5/onnx/file.hpp"

namespace d5::onnx {

class Remainder::Content {
 public:
  ::onnx::ModelProto message;
};

namespace detail {

/// Removes everything from the message that `Model` represents. The remainder of a node keeps the
/// names of its outputs and that of a tensor its name, to find them again.
void strip(::onnx::ModelProto& model);
/// Removes a tensor's data, type and dimensions, and frees their memory.
void strip_data(::onnx::TensorProto& tensor);

}  // namespace detail
}  // namespace d5::onnx
