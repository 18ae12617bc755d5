// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/level2_training/data/sampler.hpp"

namespace d5 {

/// One rank's part of every batch: n ranks with batch B see, step by step, exactly the samples that
/// one rank with batch nB sees, in the order of any sampler that can be cut (`Sampler::take_part`).
/// Of a last batch with fewer samples than ranks, and of nothing else, n ranks see less than one
/// rank does.
///
///     auto mine = distributed_sampler(mnist, samplers().at("shuffle"), {{"batch_size", 32}},
///                                     ranks->rank(), ranks->size());
///
/// Setting "batch_size" is B, of one rank.
/// Throws: ValueError for a rank outside the world, Unsupported, and what `order` throws.
[[nodiscard]] std::shared_ptr<Sampler> distributed_sampler(std::shared_ptr<const Dataset> dataset,
                                                           const SamplerEntry& order,
                                                           const Settings& settings, int rank,
                                                           int ranks);

}  // namespace d5
