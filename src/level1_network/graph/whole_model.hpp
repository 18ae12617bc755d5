// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "d5/level1_network/graph/network.hpp"
#include "d5/level1_network/graph/network_mode.hpp"

namespace d5 {

/// A network in a mode as one model, for fed values.
struct WholeModel {
  /// Inputs are the fed ones, then `variables`; outputs are the network's, then further ones for
  /// updates.
  onnx::Model model;
  std::vector<std::string> variables;  ///< tensors of the network whose values may change
  std::vector<std::string> outputs;    ///< the network's
  std::vector<std::pair<std::string, std::size_t>> updates;  ///< constants, and the output of each
};

/// Parameters named by `trained` become variables, other parameters constants.
[[nodiscard]] WholeModel whole_model(const Network& network, NetworkMode mode,
                                     const std::vector<std::pair<std::string, ValueDesc>>& fed,
                                     const std::vector<std::string>& trained);

/// Sizes and element type of `type` if it is a tensor with all of them declared; otherwise of kind
/// none.
[[nodiscard]] ValueDesc static_desc(const onnx::Type& type);

}  // namespace d5
