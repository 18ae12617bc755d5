// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/level2_training/optimization/optimizer.hpp"

namespace d5::detail {

/// Throws: ValueError for a network without parameters, in which a step changes nothing. The
/// message lists what stays constant and why.
void expect_parameters(const Network& network);

/// Detects whether training changes any parameter.
class ChangedParameters {
 public:
  /// Stores a digest of each parameter of a network.
  explicit ChangedParameters(Network& network) : before_(digests(network)) {}
  /// Whether any value has changed since. A parameter without contents counts as changed.
  [[nodiscard]] bool any(Network& network) const;
  /// Checks that some rank's part of the optimizer's network changed. Throws: NumericError, with
  /// the likely reason why `steps` changed nothing.
  void expect_any(Optimizer& optimizer, std::int64_t steps) const;

 private:
  static std::vector<std::uint64_t> digests(Network& network);
  std::vector<std::uint64_t> before_;
};

}  // namespace d5::detail
