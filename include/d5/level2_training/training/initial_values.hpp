// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// A file of values that a network begins with; without a path there is none.
struct InitialValues {
  std::string path = {};
  /// What to do with a tensor whose shape or element type is another in the file.
  enum class Differing { refuse, leave } differing = Differing::refuse;
};

/// What a file's tensors were to a network; names in order.
struct TakenValues {
  std::vector<std::string> taken;
  std::vector<std::string> left;    ///< of the network, as they were: the file has none
  std::vector<std::string> unused;  ///< of the file: the network has none
  /// Left too: "fc.weight: float32 10x84 in the file, float32 100x84 in the network".
  std::vector<std::string> differing;
};
/// "8 tensors taken; left as they were: fc.weight, fc.bias; unused: head.weight".
[[nodiscard]] std::string to_string(const TakenValues& values);

/// Takes a network's parameters and running statistics by their names from a safetensors file, a
/// checkpoint of d5 (of any network), or an ONNX file (PATH.onnx). Refused, it changes nothing.
///
///     take_values(network, {.path = "resnet-50.safetensors"});
///
/// Throws: IoError, FormatError; NotFound where no name matches, with the nearest; ShapeError,
/// TypeError for tensors that differ, unless they are left.
TakenValues take_values(Network& network, const InitialValues& from);

}  // namespace d5
