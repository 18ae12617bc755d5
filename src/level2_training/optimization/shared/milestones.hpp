// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace d5::detail {

/// Times that schedule `name` was given. Throws: ValueError for none that are whole and ascend.
[[nodiscard]] std::vector<std::int64_t> milestones(const std::string& name,
                                                   const std::vector<double>& times);

}  // namespace d5::detail
