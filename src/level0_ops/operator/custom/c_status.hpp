// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "d5/abi.h"

namespace d5::detail {

/// Throws the exception for `status`.
[[noreturn]] void throw_status(d5_status status, const std::string& message);

/// Runs `body` for a caller in C. Converts an exception to a status, with its message, truncated if
/// too long.
[[nodiscard]] d5_status answer_in_c(d5_error* error, const std::function<void()>& body) noexcept;

}  // namespace d5::detail
