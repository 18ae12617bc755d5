// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/core/tensor/value.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "d5/level2_training/data/sampler.hpp"

namespace d5 {

/// Selects the fields of a batch that are inputs of a network; other fields, such as an unused
/// label, are left out. Allocates nothing after the first batch.
class BatchFeed {
 public:
  /// The result is valid until the next call. Throws: NotFound for an input without a field in the
  /// batch.
  [[nodiscard]] const ValueMap& of(const Network& network, const Batch& batch);

 private:
  std::vector<std::string> inputs_;
  std::uint64_t revision_ = ~std::uint64_t{0};
  ValueMap fed_;
};

}  // namespace d5
