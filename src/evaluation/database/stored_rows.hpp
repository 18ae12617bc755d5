// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/results/environment.hpp"
#include "d5/core/results/measurement.hpp"
#include "evaluation/database/sql_connection.hpp"

namespace d5::detail {

/// Text columns of a record that have the same names in results files.
inline constexpr std::array kTextColumns = {
    "subject", "command",  "level",     "framework", "framework_version", "device", "metric",
    "unit",    "quantity", "direction", "statistic", "over_ranks",        "status", "reason"};

/// `text` in a form that databases accept: without invalid UTF-8, and without zero bytes.
[[nodiscard]] std::string stored_text(const std::string& text);

/// An environment as results files write it, and back. Throws: FormatError.
[[nodiscard]] std::string environment_json(const Environment& environment);
[[nodiscard]] Environment environment_from(const std::string& json);
/// The facts about the machine, which are equal from run to run.
[[nodiscard]] std::string machine_facts(const std::string& environment_json);

/// Numbers as bytes: float64, little-endian.
[[nodiscard]] SqlBytes pack_numbers(std::span<const double> numbers);
/// Throws: FormatError for a number of bytes that is no multiple of 8.
[[nodiscard]] std::vector<double> unpack_numbers(const SqlBytes& bytes);

[[nodiscard]] SqlBytes pack_text(std::string_view text);
/// Throws: FormatError for damaged data, or more than `most_bytes`.
[[nodiscard]] std::string unpack_text(const SqlBytes& bytes, std::size_t most_bytes);

/// A record's values for `kTextColumns`, then its conditions and artefacts as JSON.
[[nodiscard]] SqlRow record_texts(const Measurement& record);
/// Records from such values, without samples. Throws: FormatError.
[[nodiscard]] std::vector<Measurement> records_from(std::span<const SqlRow> rows);

}  // namespace d5::detail
