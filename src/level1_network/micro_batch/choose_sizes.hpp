// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace d5 {

/// A segment between two cuts of a region, with the sizes in which it may run.
struct SegmentWays {
  std::size_t begin = 0, end = 0;                  ///< cuts, counted over all regions
  double joint_seconds = 0;                        ///< cutting its inputs and joining its outputs
  std::map<std::int64_t, std::size_t> bytes = {};  ///< memory needed, by rows of a micro-batch
  /// Seconds per micro-batch; called only for sizes that fit into memory.
  std::function<double(std::int64_t size)> seconds = {};
};

/// Micro-batches of one segment, the largest first.
struct ChosenSizes {
  const SegmentWays* segment;
  std::vector<std::int64_t> sizes;
};

/// Lower bound on the memory: the least bytes in which every segment can run.
[[nodiscard]] std::size_t least_bytes(const std::vector<SegmentWays>& segments);

/// The fastest way to run all segments on `batch` rows in `most_bytes`: consecutive segments
/// without gaps, and for each a multiset of micro-batch sizes that adds up to the batch. Empty if
/// there is none.
///
/// Solved as an integer linear program: x(s, b) counts the micro-batches of b rows of segment s,
/// and y(s) is 1 if s is used. Minimise the sum of seconds(s, b) x(s, b) + joint_seconds(s) y(s).
/// For each s the sum of b x(s, b) is batch y(s); between any two neighbouring cuts the sum of the
/// y(s) over it is 1. Micro-batches run one after another in one arena, so each may use all of the
/// memory: sizes that need more have no variable. A segment on the whole batch has no joints.
///
/// Source: Oyama et al., "Accelerating Deep Learning Frameworks with Micro-batches" (2018), policy
/// "workspace reuse", applied to segments of a network instead of single convolutions.
[[nodiscard]] std::optional<std::vector<ChosenSizes>> choose_sizes(
    const std::vector<SegmentWays>& segments, std::int64_t batch, std::size_t most_bytes);

}  // namespace d5
