// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// Mode of nodes that differ between training and inference: BatchNormalization and Dropout.
enum class NetworkMode {
  as_written,  ///< as each node's attributes say
  training,    ///< statistics of the batch, which update the running ones; elements are dropped
  inference,   ///< running statistics; nothing is dropped
};
[[nodiscard]] std::string_view name_of(NetworkMode mode);  ///< "as_written", "training", ...
/// The inverse of `name_of`. Throws: NotFound, with the nearest name.
[[nodiscard]] NetworkMode network_mode_from_name(std::string_view name);

/// Graph that an executor runs for a network in a mode; it shares the network's values.
struct GraphInMode {
  onnx::Graph graph;
  std::map<std::string, std::string> updates;  ///< as `Network::updates`
  bool differs = false;                        ///< whether any node depends on the mode
};

/// In training, updates overwrite a BatchNormalization's running statistics if they are constants
/// of the network; within a graph that a node holds they stay. Where some BatchNormalizations are
/// written for training, the others are frozen: they stay as they are written. In inference,
/// running statistics are returned unchanged if something reads the new ones.
[[nodiscard]] GraphInMode graph_in_mode(const Network& network, NetworkMode mode);

}  // namespace d5
