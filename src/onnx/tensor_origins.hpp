// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "d5/onnx/file.hpp"

namespace d5::onnx {

/// What the program that wrote a file says an initializer was there.
enum class TensorOrigin {
  parameter,
  buffer,  ///< of a module; also a tensor that its code holds
  number   ///< was computed from numbers of the program alone
};
using TensorOrigins = std::map<std::string, TensorOrigin, std::less<>>;

/// By the metadata that PyTorch's exporter (torch.export) and ONNX Script's optimizer leave at
/// values and tensors. A name is missing where they do not tell; all are where there is no such
/// metadata.
[[nodiscard]] TensorOrigins tensor_origins(const Model& model, const Remainder& remainder);

}  // namespace d5::onnx
