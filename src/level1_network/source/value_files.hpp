// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/level1_network/source/network_inputs.hpp"

namespace d5 {

/// A value of an input, and its origin.
struct NamedValue {
  const onnx::ValueInfo* input = nullptr;  ///< the network's
  Value value = {};
  std::string origin = {};  ///< " of 'x.npy'", of values empty
};
/// Reads the given values, each input once. Throws: as `network_inputs`, except for values that do
/// not fit.
[[nodiscard]] std::vector<NamedValue> read_given(const Network& network, const GivenInputs& given);

}  // namespace d5
