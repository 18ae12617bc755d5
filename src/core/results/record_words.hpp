// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

namespace d5::detail {

// Names of the enumerators of Quantity, Direction, OverRanks, Status and Role in results files, in
// their order.
inline constexpr std::array<std::string_view, 11> kQuantities = {
    "time",  "energy", "bytes",    "rate",  "count", "share",
    "ratio", "loss",   "accuracy", "error", "other"};
inline constexpr std::array<std::string_view, 3> kDirections = {"lower_is_better",
                                                                "higher_is_better", "neither"};
inline constexpr std::array<std::string_view, 4> kOverRanks = {"maximum", "sum", "mean", "apart"};
inline constexpr std::array<std::string_view, 5> kStatuses = {"passed", "failed", "mistrusted",
                                                              "skipped", "unsupported"};
inline constexpr std::array<std::string_view, 4> kRoles = {"identity", "setting", "finding",
                                                           "aside"};

}  // namespace d5::detail
