// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "d5/core/results/environment.hpp"
#include "d5/core/results/measurement.hpp"

namespace d5::detail {

// JSON members as in results files, for use in other JSON. Bytes that are not UTF-8 are not
// replaced yet.
[[nodiscard]] nlohmann::ordered_json environment_members(const Environment& environment);
/// All text members of a record, from its subject to its reason.
[[nodiscard]] nlohmann::ordered_json record_members(const Measurement& record,
                                                    const std::string& statistic);
[[nodiscard]] nlohmann::ordered_json artefact_list(const std::vector<Artefact>& artefacts);

}  // namespace d5::detail
