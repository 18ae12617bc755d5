// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level2_training/data/sampler.hpp"
#include "lease.hpp"

namespace d5::python {

/// d5.Batch: a sampler's batch, valid until its next one.
using LentBatch = Lent<const Batch>;

}  // namespace d5::python
