// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace d5 {

/// A segment of a network that runs in micro-batches.
struct BatchSplit {
  std::string first, last;          ///< tensors that its first and last node write
  std::vector<std::int64_t> sizes;  ///< rows of each micro-batch
};

/// "conv1..pool5=64*3+32;fc6..fc6=128*2", which `batch_splits` reads.
[[nodiscard]] std::string to_words(const std::vector<BatchSplit>& splits);
/// Throws: ValueError.
[[nodiscard]] std::vector<BatchSplit> batch_splits(const std::string& words);

}  // namespace d5
