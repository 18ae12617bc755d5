// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "d5/evaluation/evaluation_database.hpp"

namespace d5::detail {

/// Whether records that differ in this condition stand in different lines of a history.
[[nodiscard]] bool makes_series(std::string_view condition);
/// `HistoryEntry::series`
[[nodiscard]] std::string series_of(const StoredMeasurement& stored);

/// Whether a record may be the best of its series.
[[nodiscard]] bool competes(const StoredMeasurement& stored);
/// Whether its value is better than another of its series.
[[nodiscard]] bool is_better(const StoredMeasurement& stored, double than);

}  // namespace d5::detail
