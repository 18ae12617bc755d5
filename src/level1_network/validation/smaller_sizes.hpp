// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// The sizes above 1 of what is fed and of constants, the largest first.
[[nodiscard]] std::vector<std::int64_t> sizes_in(const Network& network, const ValueMap& inputs);

struct ShrunkNetwork {
  onnx::Model model;
  ValueMap inputs;
};
/// Each dimension of size `from`, of inputs and constants, cut down to its first `to`; a number
/// `from` among integer constants is `to` then. It need not be a network that runs.
[[nodiscard]] ShrunkNetwork with_size(const Network& network, const ValueMap& inputs,
                                      std::int64_t from, std::int64_t to);

/// One dimension, of what is fed or of a constant.
struct OneSize {
  std::string tensor;
  std::size_t axis;
  std::int64_t size;
};
/// Dimensions above 1.
[[nodiscard]] std::vector<OneSize> dimensions_in(const Network& network, const ValueMap& inputs);
/// Cuts that dimension to its first `to`.
[[nodiscard]] ShrunkNetwork with_dimension(const Network& network, const ValueMap& inputs,
                                           const OneSize& one, std::int64_t to);

}  // namespace d5
