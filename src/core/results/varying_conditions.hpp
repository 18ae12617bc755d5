// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <span>
#include <string>

#include "d5/core/results/measurement.hpp"

namespace d5::detail {

/// Identities in which the records that have them differ.
[[nodiscard]] std::set<std::string> varying_identities(std::span<const Measurement* const> records);
/// The same of identities and settings.
[[nodiscard]] std::set<std::string> varying_conditions(std::span<const Measurement* const> records);

}  // namespace d5::detail
