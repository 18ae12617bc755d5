// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace d5::detail {

/// A double-quoted scalar, which YAML reads like JSON.
[[nodiscard]] inline std::string yaml_scalar(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace d5::detail
