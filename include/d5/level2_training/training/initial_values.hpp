// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// File with initial values of a network; no file if `path` is empty.
struct InitialValues {
  std::string path = {};
  /// Treatment of tensors whose shape or element type differs in the file.
  enum class Differing { refuse, leave } differing = Differing::refuse;
};

/// Result of loading a file's tensors into a network; names in order.
struct TakenValues {
  std::vector<std::string> taken;
  std::vector<std::string> left;    ///< the network's, unchanged: missing in the file
  std::vector<std::string> unused;  ///< the file's: missing in the network
  /// Unchanged as well: "fc.weight: float32 10x84 in the file, float32 100x84 in the network".
  std::vector<std::string> differing;
};
/// "8 tensors taken; left as they were: fc.weight, fc.bias; unused: head.weight".
[[nodiscard]] std::string to_string(const TakenValues& values);

/// Loads a network's parameters and running statistics by name from a safetensors file, a
/// checkpoint of d5 (of any network), or an ONNX file (PATH.onnx). If it throws, nothing was
/// changed.
///
///     take_values(network, {.path = "resnet-50.safetensors"});
///
/// Throws: IoError, FormatError; NotFound if no name matches, with the nearest; ShapeError,
/// TypeError for tensors that differ, unless `Differing::leave` is set.
TakenValues take_values(Network& network, const InitialValues& from);

}  // namespace d5
