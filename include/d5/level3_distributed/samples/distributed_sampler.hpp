// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/level2_training/data/sampler.hpp"

namespace d5 {

/// Samples one rank's part of every batch: step by step, n ranks with batch B see exactly the
/// samples that one rank with batch nB sees. Works with any sampler that can be cut
/// (`Sampler::take_part`). The only exception is a last batch with fewer samples than ranks, of
/// which the ranks see fewer samples.
///
///     auto mine = distributed_sampler(mnist, samplers().at("shuffle"), {{"batch_size", 32}},
///                                     ranks->rank(), ranks->size());
///
/// Setting "batch_size" is B, the batch of one rank.
/// Throws: ValueError for a rank out of range; Unsupported; exceptions of `order`.
[[nodiscard]] std::shared_ptr<Sampler> distributed_sampler(std::shared_ptr<const Dataset> dataset,
                                                           const SamplerEntry& order,
                                                           const Settings& settings, int rank,
                                                           int ranks);

}  // namespace d5
