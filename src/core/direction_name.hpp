// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "d5/core/metric.hpp"

namespace d5 {

inline constexpr std::array<std::string_view, 3> kDirectionNames = {"lower_is_better",
                                                                    "higher_is_better", "neither"};

[[nodiscard]] inline std::string_view name_of(Direction direction) {
  return kDirectionNames.at(static_cast<std::size_t>(direction));
}

}  // namespace d5
