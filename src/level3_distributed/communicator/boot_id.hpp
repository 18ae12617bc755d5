// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5::detail {

/// The kernel's random boot id, which also identifies the monotonic clock; the same in all
/// containers of a machine. Empty if it cannot be read.
[[nodiscard]] const std::string& boot_id();

}  // namespace d5::detail
