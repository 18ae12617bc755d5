// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace d5::detail {

/// Right is a score of this or more.
inline constexpr double kRightScore = 0.5;

/// How likely flips would be at least as uneven if each were one side's or the other's with equal
/// chance: exact, two-sided; 1 where there are none.
[[nodiscard]] double mcnemar_p(std::int64_t only_a, std::int64_t only_b);

}  // namespace d5::detail
