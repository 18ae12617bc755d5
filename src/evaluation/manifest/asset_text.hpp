// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace d5::detail {

/// The asset that a step's setting asks for: "x.txt" of "asset:x.txt"; else empty.
[[nodiscard]] inline std::string asset_named(std::string_view setting) {
  constexpr std::string_view kWord = "asset:";
  return setting.starts_with(kWord) ? std::string(setting.substr(kWord.size())) : std::string();
}

}  // namespace d5::detail
