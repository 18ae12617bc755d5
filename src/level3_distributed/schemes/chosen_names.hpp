// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/entries/option.hpp"

namespace d5::detail {

/// Checks the names of options in `settings`, recursively for entries that they choose from level
/// 3's registries, such as an exchange's compressor. Throws: NotFound.
void check_chosen_names(const Settings& settings, const std::vector<Option>& options);

/// Sets `option`, such as a run's seed, in the entry and recursively in the entries that it
/// chooses, wherever they have an option of that name that `settings` leave unset.
void offer_to_chosen(Settings& settings, const std::vector<Option>& options,
                     const std::string& option, const Settings::Value& value);

}  // namespace d5::detail
