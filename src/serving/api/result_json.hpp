// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "d5/evaluation/database/evaluation_database.hpp"
#include "serving/api/json_answer.hpp"

namespace d5::detail {

[[nodiscard]] AnswerJson to_json(const StoredRun& run);
[[nodiscard]] AnswerJson to_json(const StoredPiece& piece);
/// A record as in a results file, with its place in the database, and without samples if it was
/// read without.
[[nodiscard]] AnswerJson to_json(const StoredMeasurement& stored);
[[nodiscard]] AnswerJson to_json(const Interval& interval);  ///< null without an interval
[[nodiscard]] AnswerJson to_json(const QueryRecord& query);
[[nodiscard]] AnswerJson to_json(const SampleAnswer& answer);

/// The filter of the address: ?model=, ?framework=, ?metric=, ?key=, ?status=, ?since=, ...
[[nodiscard]] RecordFilter asked_filter(const HttpRequest& request);
/// The parameters that `asked_filter` reads, and `more`.
[[nodiscard]] std::vector<std::string> filter_names(std::vector<std::string> more);

/// The whole id of the run in the address. Throws: NotFound.
[[nodiscard]] std::string asked_run(const EvaluationDatabase& database, const HttpRequest& request);
/// The piece in the address, or the run's only one of that kind. Throws: NotFound with the existing
/// ones.
[[nodiscard]] std::string asked_piece(const EvaluationDatabase& database, const std::string& run,
                                      const std::string& kind, const HttpRequest& request);

}  // namespace d5::detail
