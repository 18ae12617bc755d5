// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "d5/level1_network/plan/planned_memory.hpp"
#include "level1_network/micro_batch/batch_regions.hpp"

namespace d5 {

/// Memory that a segment needs while it runs on successive micro-batches, estimated from a plan of
/// the network for one micro-batch.
///
/// Values that live only within the segment's steps count for one micro-batch. All others that live
/// meanwhile (its inputs, its outputs, values that backward reads later) count for the batch.
class SegmentMemory {
 public:
  /// `memory`: plan of the network for `size` rows of the `batch`.
  SegmentMemory(const Network& network, PlannedMemory memory, std::int64_t size,
                std::int64_t batch);

  /// Peak memory of the segment. `descs` are those of the whole batch.
  [[nodiscard]] std::size_t bytes(const BatchSegment& segment, const ValueDescs& descs) const;

 private:
  struct Steps {
    std::size_t begin, end;  ///< both included
  };
  [[nodiscard]] std::optional<Steps> steps(const BatchSegment& segment, bool backward) const;
  /// Live bytes during `steps`: for the whole batch, and for one micro-batch.
  struct Alive {
    double around = 0, within = 0;
  };
  [[nodiscard]] Alive alive(Steps steps) const;

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  const Network& network_;
  PlannedMemory memory_;
  double batch_, size_;
  std::vector<std::size_t> forward_, backward_;  ///< step of each node; none where it has none
};

}  // namespace d5
