// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace d5::detail {

/// The message of `throw_unknown_name`, for errors of another type or with more to say.
[[nodiscard]] std::string unknown_name(std::string_view kind, std::string_view name,
                                       const std::vector<std::string>& known,
                                       const std::vector<std::string>& meant = {});

}  // namespace d5::detail
