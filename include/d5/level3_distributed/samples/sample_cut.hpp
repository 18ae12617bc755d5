// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/level2_training/data/sampler.hpp"

namespace d5 {

/// Distributes the samples of a data set over ranks, and cuts them into batches. Every rank makes
/// its sampler from the same data set, order and settings.
///
///     auto mine = sample_cuts().at("shards").make()->sampler(data, samplers().at("shuffle"),
///                                                            {{"batch_size", 32}}, 0, 4);
class SampleCut {
 public:
  virtual ~SampleCut() = default;
  /// The sampler of part `share` of `shares`. Setting "batch_size" is the batch of one rank.
  /// Throws: ValueError for a share out of range and for too few samples; exceptions of `order`.
  [[nodiscard]] virtual std::shared_ptr<Sampler> sampler(std::shared_ptr<const Dataset> dataset,
                                                         const SamplerEntry& order,
                                                         const Settings& settings, int share,
                                                         int shares) const = 0;
  /// Whether all parts have the same number of batches, as training needs: ranks synchronise in
  /// each batch.
  [[nodiscard]] virtual bool is_even() const { return true; }
  /// Whether each epoch reads every sample, as a test run needs.
  [[nodiscard]] virtual bool is_complete() const { return false; }
};

using SampleCutEntry = Entry<std::shared_ptr<SampleCut>()>;
/// All cuts by name; src/level3_distributed/samples/cuts holds the built-in ones.
[[nodiscard]] Registry<SampleCutEntry>& sample_cuts();

}  // namespace d5
