// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "level1_network/source/size_trial.hpp"

namespace d5 {

/// Searches for the smallest sizes that fit: as few of the `free` dimensions as possible are raised
/// from `sizes`, and each as little as possible.
class SizeSearch {
 public:
  static constexpr std::int64_t kLeast = 1, kMost = 32768;  ///< range of tried sizes

  SizeSearch(const SizeTrial& trial, const Network& network, OpenSizes sizes,
             std::vector<std::string> free);
  [[nodiscard]] std::optional<OpenSizes> smallest() const;

 private:
  [[nodiscard]] std::optional<OpenSizes> raised_alike(
      std::span<const std::int64_t> candidates) const;
  [[nodiscard]] std::optional<OpenSizes> raised_apart() const;
  [[nodiscard]] OpenSizes lowered(OpenSizes sizes) const;

  const SizeTrial& trial_;
  OpenSizes sizes_;
  std::vector<std::string> free_;
  std::vector<std::int64_t> of_weights_;  ///< and the usual ones
};

}  // namespace d5
