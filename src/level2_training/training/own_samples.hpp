// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level2_training/data/sampler.hpp"
#include "d5/level2_training/optimization/hyper_parameters.hpp"
#include "d5/level2_training/optimization/rank_agreement.hpp"

namespace d5::detail {

/// Checks that ranks which share the samples of a training do not all have the same batch: an uncut
/// sampler on each would train n times what one rank trains. A collective, before the first step,
/// unless the sampler was cut (`Sampler::take_part`). Samples that are all alike, as of a constant
/// data set, are not compared.
/// Throws: ValueError, on all ranks.
void expect_own_samples(RankAgreement& ranks, const Batch& batch);

/// Checks that all ranks begin with the same hyper-parameters. A collective at the beginning of a
/// run. Throws: ValueError, on all ranks.
void expect_equal_numbers(RankAgreement& ranks, const HyperParameters& numbers);

}  // namespace d5::detail
