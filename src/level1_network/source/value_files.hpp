// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/level1_network/source/network_inputs.hpp"

namespace d5 {

/// A value for an input, and where it comes from.
struct NamedValue {
  const onnx::ValueInfo* input = nullptr;  ///< the network's
  Value value = {};
  std::string origin = {};  ///< " of 'x.npy'", of values empty
};
/// Reads what is given, each input once. Throws: as `network_inputs`, but for what does not fit.
[[nodiscard]] std::vector<NamedValue> read_given(const Network& network, const GivenInputs& given);

}  // namespace d5
