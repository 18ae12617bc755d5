// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "d5/core/entries/option.hpp"
#include "d5/level2_training/data/dataset.hpp"

namespace d5::detail {

/// What `hold_samples` holds of a reader, if it is still right.
[[nodiscard]] std::optional<DatasetPair> held_samples(const EntryChoice& reader);

}  // namespace d5::detail
