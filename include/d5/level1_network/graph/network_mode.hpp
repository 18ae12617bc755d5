// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// How nodes behave that differ while a network is trained: BatchNormalization and Dropout.
enum class NetworkMode {
  as_written,  ///< as each node says
  training,    ///< statistics of the batch, which running ones take in; elements are dropped
  inference,   ///< running statistics; nothing is dropped
};
[[nodiscard]] std::string_view name_of(NetworkMode mode);  ///< "as_written", "training", ...
/// The inverse of `name_of`. Throws: NotFound, with the nearest name.
[[nodiscard]] NetworkMode network_mode_from_name(std::string_view name);

/// What an executor runs of a network in a mode; it shares the network's values.
struct GraphInMode {
  onnx::Graph graph;
  std::map<std::string, std::string> updates;  ///< as `Network::updates`
  bool differs = false;                        ///< whether some node knows modes at all
};

/// Training overwrites the running statistics of a BatchNormalization that are constants of the
/// network; within a graph that a node holds they stay. Inference gives them out unchanged where
/// somebody reads the new ones.
[[nodiscard]] GraphInMode graph_in_mode(const Network& network, NetworkMode mode);

}  // namespace d5
