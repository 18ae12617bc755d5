// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "d5/onnx/model.hpp"

namespace d5 {

/// Removes from the metadata what `Network::save` wrote there, for ONNX has no word for it: the
/// constants that outputs overwrite, with these outputs.
[[nodiscard]] std::map<std::string, std::string> take_updates(onnx::Model& model);

}  // namespace d5
