// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5::detail {

/// A valid manifest name for a file's or folder's: "Mine--2-" for "Mine (2)". `before` precedes one
/// that begins with another character than a letter or a digit.
[[nodiscard]] std::string manifest_name(std::string name, const std::string& before);

}  // namespace d5::detail
