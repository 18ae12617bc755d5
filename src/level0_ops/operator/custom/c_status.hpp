// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "d5/abi.h"

namespace d5::detail {

/// Throws the exception that `status` stands for.
[[noreturn]] void throw_status(d5_status status, const std::string& message);

/// Runs `body` for a caller in C: what it throws becomes a status, with its message, cut where it
/// is too long.
[[nodiscard]] d5_status answer_in_c(d5_error* error, const std::function<void()>& body) noexcept;

}  // namespace d5::detail
