// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "d5/onnx/model.hpp"

namespace d5 {

/// Information that `Network::save` writes to a file's metadata because ONNX has no field for it.
struct NetworkNotes {
  std::map<std::string, std::string> updates;  ///< constants that outputs overwrite: the outputs
  /// "parameter" or "constant" for initializers that `trainable_initializers` classifies
  /// differently.
  std::map<std::string, std::string> roles;
};

/// Extracts them from the metadata.
[[nodiscard]] NetworkNotes take_notes(onnx::Model& model);

}  // namespace d5
