// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "d5/level1_network/graph/network.hpp"

namespace d5::detail {

/// Interpretation of a loss over a batch, derived from its nodes.
struct LossReading {
  /// `fixed`: depends only on parameters, the same for every part. `other`: neither a sum nor a
  /// mean of known items.
  enum class Is { fixed, sum, mean, other };
  /// Divisor of a mean: samples, the elements of a tensor, targets, the number in a tensor.
  enum class By { samples, elements, targets, number };
  Is is = Is::other;
  By by = By::samples;
  std::string tensor = {};                   ///< tensor whose elements count; the targets; the
                                             ///< number
  std::string weights = {};                  ///< class weights of the targets; empty: each counts
                                             ///< once
  std::optional<std::int64_t> ignored = {};  ///< class that does not count
  std::string why = {};                      ///< reason for `other`
  bool joins = true;  ///< for `other`: false if parts are known not to add up to the whole

  bool operator==(const LossReading&) const = default;
};

/// Follows the nodes from `loss` back to the reduction of a batch to one number.
[[nodiscard]] LossReading read_loss(const Network& network, const std::string& loss);

/// Source of `tensor` before changes of shape or type: an input, or a computed tensor.
[[nodiscard]] std::string origin_of(const Network& network, std::string tensor);

/// The class that nodes behind `tensor` compare the targets `field` with, as masks do; empty if
/// there is none or several.
[[nodiscard]] std::optional<std::int64_t> compared_class(const Network& network,
                                                         const std::string& tensor,
                                                         std::string_view field);

/// The nodes that compute `tensor`, with their inputs and constants, as a network with it as
/// output.
[[nodiscard]] Network network_behind(const Network& network, const std::string& tensor);

}  // namespace d5::detail
