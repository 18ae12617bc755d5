// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/core/entries/option.hpp"

namespace d5::detail {

/// Options among the settings of an entry that does not know them: reads them, and removes them
/// with everything below. Throws: ValueError.
template <class Options>
[[nodiscard]] Options take_options(Settings& settings) {
  const auto options = read_shared_options<Options>(settings);
  const auto all = settings.values();
  for (const Option& option : options_of<Options>()) {
    for (const auto& [name, value] : all) {
      if (name == option.name || name.starts_with(option.name + ".")) settings.take(name, "");
    }
  }
  return options;
}

}  // namespace d5::detail
