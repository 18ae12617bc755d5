// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/evaluation/database/evaluation_database.hpp"

namespace d5::detail {

/// `HistoryEntry::series`: records with different identity conditions belong to different series.
[[nodiscard]] std::string series_of(const StoredMeasurement& stored);

/// Whether a record may be the best of its series.
[[nodiscard]] bool competes(const StoredMeasurement& stored);
/// Whether its value is better than another of its series.
[[nodiscard]] bool is_better(const StoredMeasurement& stored, double than);

}  // namespace d5::detail
