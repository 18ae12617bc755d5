// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5::detail {

/// What a machine draws at random when it starts, and its monotonic clock with it; the same in all
/// its containers. Empty where it is hidden.
[[nodiscard]] const std::string& boot_id();

}  // namespace d5::detail
