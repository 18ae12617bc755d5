// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "d5/onnx/file.hpp"

namespace d5::onnx {

/// Origin of an initializer in the exporting program.
enum class TensorOrigin {
  parameter,
  buffer,  ///< a module's buffer
  number   ///< a tensor in its code, or computed from the program's constants only
};
using TensorOrigins = std::map<std::string, TensorOrigin, std::less<>>;

/// Origins from the metadata that PyTorch's exporter (torch.export) and ONNX Script's optimizer add
/// to values and tensors. Names of unknown origin are missing; empty without such metadata.
[[nodiscard]] TensorOrigins tensor_origins(const Model& model, const Remainder& remainder);

}  // namespace d5::onnx
