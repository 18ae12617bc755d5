// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "d5/core/entries/option.hpp"
#include "d5/level2_training/data/dataset.hpp"

namespace d5::detail {

/// The data of a reader that `hold_samples` keeps, if it is still valid.
[[nodiscard]] std::optional<DatasetPair> held_samples(const EntryChoice& reader);

}  // namespace d5::detail
