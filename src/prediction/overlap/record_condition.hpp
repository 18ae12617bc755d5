// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "d5/core/measurement.hpp"

namespace d5::detail {

/// Empty where the record has none of that name.
[[nodiscard]] inline std::string condition_of(const Measurement& record, std::string_view name) {
  const auto place = record.conditions.find(name);
  return place == record.conditions.end() ? "" : place->second;
}

}  // namespace d5::detail
