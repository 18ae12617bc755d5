// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "d5/core/results/condition.hpp"

namespace d5::detail {

class JsonReader;

/// `{"identity": {"batch": 32}, "finding": {"seconds": {"value": 0.25, "unit": "s"}}}`: the format
/// in results files, the database and between processes of a run.
[[nodiscard]] nlohmann::ordered_json to_json(const Conditions& conditions);

/// The conditions in the field "conditions" of `record`; empty if missing. Values of schemas 1 and
/// 2, which are texts, are converted to typed conditions with roles. Throws: FormatError.
[[nodiscard]] Conditions conditions_in(const JsonReader& record);

/// The inverse of `to_json(conditions).dump()`. Throws: FormatError, with `who` in the message.
[[nodiscard]] Conditions conditions_from_json(const std::string& text, const std::string& who);

/// A condition of schema 2, whose values were texts without a role.
[[nodiscard]] Condition condition_of_schema2(const std::string& name, const std::string& words);

}  // namespace d5::detail
