// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

namespace d5::detail {

/// What a recipe's parts may hold. What stands below them is known to the entry that is named
/// there.
[[nodiscard]] const std::vector<std::string>& recipe_sections();

/// The names of the options that the entry called `name` has in a section; none where there is no
/// such entry.
[[nodiscard]] std::set<std::string> entry_options(const std::string& section,
                                                  const std::string& name);

/// Everything that may stand in a section: "name", the options of its entry (`name`, or the usual
/// one where that is empty; of "model" those of a network from a "file"), and those that all of
/// them share. Of "metrics" NAME and NAME.OPTION.
[[nodiscard]] std::set<std::string> section_options(const std::string& section,
                                                    const std::string& name);

}  // namespace d5::detail
