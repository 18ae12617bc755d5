// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/core/tensor/value.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "d5/level2_training/data/sampler.hpp"

namespace d5 {

/// The part of a batch that a network has inputs for; other fields (a label that it does not take)
/// are left out. Allocates nothing after the first batch.
class BatchFeed {
 public:
  /// Valid until the next call. Throws: NotFound for an input that the batch has no field for.
  [[nodiscard]] const ValueMap& of(const Network& network, const Batch& batch);

 private:
  std::vector<std::string> inputs_;
  std::uint64_t revision_ = ~std::uint64_t{0};
  ValueMap fed_;
};

}  // namespace d5
