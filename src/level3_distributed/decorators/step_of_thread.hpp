// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace d5::detail {

/// The value of `training_step`, for switching between several ranks on one thread.
[[nodiscard]] std::int64_t& step_of_thread();

}  // namespace d5::detail
