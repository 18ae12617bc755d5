// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "d5/evaluation/database/evaluation_database.hpp"
#include "serving/api/json_answer.hpp"

namespace d5::detail {

[[nodiscard]] AnswerJson to_json(const StoredRun& run);
[[nodiscard]] AnswerJson to_json(const StoredPiece& piece);
/// As a results file has it, with where it stands in the database, and without its samples where
/// it was read without.
[[nodiscard]] AnswerJson to_json(const StoredMeasurement& stored);
[[nodiscard]] AnswerJson to_json(const Interval& interval);  ///< null where there is none
[[nodiscard]] AnswerJson to_json(const QueryRecord& query);
[[nodiscard]] AnswerJson to_json(const SampleAnswer& answer);

/// What the address asks for: ?model=, ?framework=, ?metric=, ?key=, ?status=, ?since=, ...
[[nodiscard]] RecordFilter asked_filter(const HttpRequest& request);
/// The names that `asked_filter` reads, and `more`.
[[nodiscard]] std::vector<std::string> filter_names(std::vector<std::string> more);

/// The whole id of the run that the address names. Throws: NotFound.
[[nodiscard]] std::string asked_run(const EvaluationDatabase& database, const HttpRequest& request);
/// The piece of a run that the address names, or the only one of the kind. Throws: NotFound with
/// those that there are.
[[nodiscard]] std::string asked_piece(const EvaluationDatabase& database, const std::string& run,
                                      const std::string& kind, const HttpRequest& request);

}  // namespace d5::detail
