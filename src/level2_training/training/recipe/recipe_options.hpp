// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

namespace d5::detail {

/// Sections of a recipe. Keys below them are options of the entry that the section names.
[[nodiscard]] const std::vector<std::string>& recipe_sections();

/// Options by name, with their types: "integer".
using OptionTypes = std::map<std::string, std::string>;

/// The options of the entry `name` in a section; empty if there is no such entry.
[[nodiscard]] OptionTypes entry_options(const std::string& section, const std::string& name);

/// All valid keys of a section: "name", the options of its entry (`name`, or the usual one if that
/// is empty; for "model" those of a network from a "file"), and options that all entries share. For
/// "metrics" NAME and NAME.OPTION.
[[nodiscard]] OptionTypes section_options(const std::string& section, const std::string& name);

}  // namespace d5::detail
