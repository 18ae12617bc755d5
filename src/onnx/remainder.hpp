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

/// Takes out of the message whatever a `Model` that was read from it holds. What is left of a node
/// keeps the names of its outputs, what is left of a tensor its name: by these it is found again.
void strip(::onnx::ModelProto& model);
/// Takes out a tensor's data, type and dimensions, and frees their memory.
void strip_data(::onnx::TensorProto& tensor);

}  // namespace detail
}  // namespace d5::onnx
