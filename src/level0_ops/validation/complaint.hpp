// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5 {

/// Whether two messages, of larger and smaller problems, are of one fault: they differ in names and
/// numbers alone.
[[nodiscard]] bool is_same_complaint(const std::string& a, const std::string& b);

}  // namespace d5
