// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/evaluation/analysis.hpp"
#include "d5/evaluation/answer_comparison.hpp"
#include "d5/evaluation/evaluation_database.hpp"

namespace d5 {

/// A run of a database with its traces, under the first eight digits of its id. `run` may be cut
/// short. Throws: NotFound.
[[nodiscard]] AnalysedRun stored_run(const EvaluationDatabase& database, const std::string& run);

/// The answers of two runs, by the pieces that both have, or by the only one of each; empty where
/// there are none. `a` and `b` may be cut short. Throws: NotFound.
[[nodiscard]] std::vector<NamedAnswerComparison> compare_stored_answers(
    const EvaluationDatabase& database, const std::string& a, const std::string& b);

}  // namespace d5
