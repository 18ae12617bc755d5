// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/level2_training/data/sampler.hpp"

namespace d5 {

/// Which samples of a data set each of several ranks reads, and in which batches. Every rank makes
/// its sampler from the same data set, order and settings.
///
///     auto mine = sample_cuts().at("shards").make()->sampler(data, samplers().at("shuffle"),
///                                                            {{"batch_size", 32}}, 0, 4);
class SampleCut {
 public:
  virtual ~SampleCut() = default;
  /// Part `share` of `shares`. Setting "batch_size" is that of one rank.
  /// Throws: ValueError for a share that there is not, for too few samples; what `order` throws.
  [[nodiscard]] virtual std::shared_ptr<Sampler> sampler(std::shared_ptr<const Dataset> dataset,
                                                         const SamplerEntry& order,
                                                         const Settings& settings, int share,
                                                         int shares) const = 0;
  /// Whether all have the same number of batches: ranks that train wait for each other in each.
  [[nodiscard]] virtual bool is_even() const { return true; }
  /// Whether every sample is read by somebody in each epoch, as a test run has to.
  [[nodiscard]] virtual bool is_complete() const { return false; }
};

using SampleCutEntry = Entry<std::shared_ptr<SampleCut>()>;
/// All by name; src/level3_distributed/samples/cuts holds the built-in ones.
[[nodiscard]] Registry<SampleCutEntry>& sample_cuts();

}  // namespace d5
