// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <span>
#include <string>

#include "d5/core/results/measurement.hpp"

namespace d5::detail {

/// The identities with different values in the records that have them.
[[nodiscard]] std::set<std::string> varying_identities(std::span<const Measurement* const> records);
/// The identities and settings with different values in the records that have them.
[[nodiscard]] std::set<std::string> varying_conditions(std::span<const Measurement* const> records);

}  // namespace d5::detail
