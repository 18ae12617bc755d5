// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace d5::detail {

/// Times given to schedule `name`. Throws: ValueError unless they are integers in ascending order.
[[nodiscard]] std::vector<std::int64_t> milestones(const std::string& name,
                                                   const std::vector<double>& times);

}  // namespace d5::detail
