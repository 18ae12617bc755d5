// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5 {

/// Whether two messages, of a larger and a smaller problem, report the same fault: they differ only
/// in names and numbers.
[[nodiscard]] bool is_same_complaint(const std::string& a, const std::string& b);

}  // namespace d5
