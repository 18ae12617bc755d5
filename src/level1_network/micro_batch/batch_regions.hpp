// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "d5/level1_network/graph/network.hpp"
#include "level1_network/nodes/value_descs.hpp"

namespace d5 {

/// Nodes of a network, by index, that may run on some rows of a batch at a time.
struct BatchSegment {
  std::vector<std::size_t> nodes = {};
  std::vector<std::string> entering = {};  ///< batches that they read and do not write
  std::vector<std::string> leaving = {};   ///< tensors that they write and others read
};

/// A maximal run of consecutive batch-parallel nodes, and the positions where it may be cut.
struct BatchRegion {
  std::vector<std::size_t> nodes;
  /// Positions in `nodes`, from 0 to their number, where a single batch crosses from the nodes
  /// before to the nodes after.
  std::vector<std::size_t> cuts;
};

/// The regions of a network and their segments. The network must not be edited meanwhile.
class BatchRegions {
 public:
  /// `descs`: of all values, for batches of `batch` rows. `trained`: as in `is_batch_parallel`.
  BatchRegions(const Network& network, const ValueDescs& descs, std::int64_t batch, bool trained);

  [[nodiscard]] const std::vector<BatchRegion>& regions() const { return regions_; }
  /// Segment of the nodes [begin, end).
  [[nodiscard]] BatchSegment segment(const BatchRegion& region, std::size_t begin,
                                     std::size_t end) const;
  /// Inputs of the network that are batches.
  [[nodiscard]] const std::vector<std::string>& inputs() const { return inputs_; }

 private:
  [[nodiscard]] bool is_batch(const std::string& tensor) const { return batches_.contains(tensor); }
  void add_region(std::vector<std::size_t> nodes);

  const Network& network_;
  std::set<std::string, std::less<>> batches_;  ///< tensors
  std::vector<std::string> inputs_;
  std::vector<BatchRegion> regions_;
};

}  // namespace d5
