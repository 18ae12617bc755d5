// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "d5/level1_network/graph/network.hpp"
#include "d5/level1_network/source/open_sizes.hpp"
#include "level1_network/source/value_ranges.hpp"

namespace d5 {

/// Checks whether sizes fit a network, by its nodes' own rules: nothing is run or allocated.
class SizeTrial {
 public:
  SizeTrial(const Network& network, const OpenSizes& sizes);

  /// Reason why the first sizes do not fit; empty if they fit.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }
  [[nodiscard]] std::string refusal_with(const OpenSizes& sizes) const;
  /// Also checks whether d5 can allocate the inputs.
  [[nodiscard]] bool fits(const OpenSizes& sizes) const;
  /// Renews the budget of a search, about one second: after that many nodes nothing fits.
  void renew() const;

 private:
  struct Fed {
    ValueDescs descs;
    KnownValues values;
  };
  [[nodiscard]] Fed fed_with(const OpenSizes& sizes) const;

  const Network& network_;
  ValueRanges settled_;  ///< numbers that decide what runs
  std::string refusal_;
  mutable std::size_t left_ = 0;  ///< trials
};

}  // namespace d5
