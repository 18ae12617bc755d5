// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace d5::detail {

/// What `training_step` tells: for who runs several ranks on one thread.
[[nodiscard]] std::int64_t& step_of_thread();

}  // namespace d5::detail
