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

/// Splits a network into micro-batches. A network with a loss is planned as a training step, any
/// other as inference.
class MicroBatching {
 public:
  /// `word` names frameworks; `batch` is used if the network leaves it open.
  /// Throws: ValueError if neither gives a batch size; Unsupported for the framework "auto", and
  /// for a network without a batch.
  MicroBatching(Network& network, const ExecutorWord& word, std::int64_t batch);

  [[nodiscard]] std::int64_t batch() const { return batch_; }
  /// Size of the plan for the whole batch; empty above `memory_budget()`.
  [[nodiscard]] std::optional<std::size_t> planned_bytes() const;
  /// The fastest choice with an estimated need of at most `most_bytes`; if there is none, the
  /// fastest of those with the least need.
  [[nodiscard]] std::vector<BatchSplit> choose(std::size_t most_bytes);
  /// Applies the splits; the network then accepts only this batch size.
  /// Throws: NotFound, ValueError for splits that do not fit, before anything is changed.
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
