// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/core/option.hpp"

namespace d5::detail {

/// Checks the names of options in `settings`, and of what they choose from level 3's registries,
/// down to the last: an exchange's compressor too. Throws: NotFound.
void check_chosen_names(const Settings& settings, const std::vector<Option>& options);

}  // namespace d5::detail
