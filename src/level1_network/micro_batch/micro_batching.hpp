// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "d5/level1_network/plan/planned_memory.hpp"
#include "level1_network/micro_batch/batch_regions.hpp"
#include "level1_network/micro_batch/batch_split.hpp"
#include "level1_network/micro_batch/choose_sizes.hpp"

namespace d5 {

/// A network on its way to micro-batches. One with a loss is judged by a training step, any other
/// by inference.
class MicroBatching {
 public:
  /// `word` names frameworks; `batch` counts where the network leaves it open.
  /// Throws: ValueError where neither says one; Unsupported for the framework "auto", and for a
  /// network without a batch.
  MicroBatching(Network& network, const ExecutorWord& word, std::int64_t batch);

  [[nodiscard]] std::int64_t batch() const { return batch_; }
  /// Bytes of the plan for the whole batch; nothing above `memory_budget()`.
  [[nodiscard]] std::optional<std::size_t> planned_bytes() const;
  /// The fastest choice with an estimated need of at most `most_bytes`; if there is none, the
  /// fastest of those with the least need.
  [[nodiscard]] std::vector<BatchSplit> choose(std::size_t most_bytes);
  /// The network takes batches of this size alone afterwards.
  /// Throws: NotFound, ValueError for splits that do not fit it, before anything is changed.
  void apply(const std::vector<BatchSplit>& splits);

 private:
  struct Size {
    ValueDescs descs;
    std::optional<PlannedMemory> memory;  ///< empty without a plan
  };
  [[nodiscard]] ValueDescs fed(std::int64_t rows) const;
  [[nodiscard]] BatchRegions regions() const;
  [[nodiscard]] BatchSegment segment_of(const BatchSplit& split) const;
  [[nodiscard]] PlannedMemory planned(std::int64_t rows) const;
  void plan_sizes();
  void set_rows(std::optional<std::int64_t> rows);

  Network& network_;
  std::vector<std::string> frameworks_;
  std::int64_t batch_ = 0;
  bool trained_;
  std::vector<std::string> inputs_;     ///< inputs that are batches
  std::map<std::int64_t, Size> sizes_;  ///< keyed by rows of a micro-batch, and of the batch
};

}  // namespace d5
