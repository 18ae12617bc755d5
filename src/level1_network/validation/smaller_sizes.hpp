// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// Sizes above 1 of inputs and constants, the largest first.
[[nodiscard]] std::vector<std::int64_t> sizes_in(const Network& network, const ValueMap& inputs);

struct ShrunkNetwork {
  onnx::Model model;
  ValueMap inputs;
};
/// Cuts each dimension of size `from`, of inputs and constants, to its first `to`, and replaces the
/// number `from` in integer constants by `to`. The result may not run.
[[nodiscard]] ShrunkNetwork with_size(const Network& network, const ValueMap& inputs,
                                      std::int64_t from, std::int64_t to);

/// One dimension of an input or a constant.
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
