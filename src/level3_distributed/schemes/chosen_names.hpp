// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/entries/option.hpp"

namespace d5::detail {

/// Checks the names of options in `settings`, and of what they choose from level 3's registries,
/// down to the last: an exchange's compressor too. Throws: NotFound.
void check_chosen_names(const Settings& settings, const std::vector<Option>& options);

/// Sets `option` where the part of these options, or what it chooses from those registries, down to
/// the last, has one of that name and `settings` leave it open: what a run knows, such as its seed.
void offer_to_chosen(Settings& settings, const std::vector<Option>& options,
                     const std::string& option, const Settings::Value& value);

}  // namespace d5::detail
