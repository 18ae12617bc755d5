// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "level1_network/source/open_dims.hpp"
#include "level1_network/source/size_trial.hpp"

namespace d5 {

/// Refuses the requested sizes of `trial`, which do not fit.
/// Throws: ShapeError with the node that rejects them, sizes that would fit, and how to give them.
[[noreturn]] void refuse_unfit_sizes(const Network& network, const SizeTrial& trial,
                                     const OpenSizes& asked, const std::vector<OpenDim>& dims);

}  // namespace d5
