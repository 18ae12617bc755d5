// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/evaluation/accuracy/answer_comparison.hpp"
#include "d5/evaluation/analysis/analysis.hpp"
#include "d5/evaluation/analysis/evaluation_difference.hpp"
#include "d5/evaluation/database/evaluation_database.hpp"

namespace d5 {

enum class StoredTraces { with, without };

/// Reads a run of a database with its traces, named by the first eight digits of its id. `run` may
/// be cut short. Throws: NotFound.
[[nodiscard]] AnalysedRun stored_run(const EvaluationDatabase& database, const std::string& run,
                                     StoredTraces traces = StoredTraces::with);

/// `layer_differences` of two runs, with the traces of one at a time in memory. `a` and `b` may be
/// cut short. Throws: NotFound.
[[nodiscard]] std::vector<LayerDifference> stored_layer_differences(
    const EvaluationDatabase& database, const std::string& a, const std::string& b);

/// Compares the answers of two runs, by the pieces that both have, or by the only one of each;
/// empty if there are none. `a` and `b` may be cut short. The first `most_flips` of each side are
/// listed. Throws: NotFound.
[[nodiscard]] std::vector<NamedAnswerComparison> compare_stored_answers(
    const EvaluationDatabase& database, const std::string& a, const std::string& b,
    std::size_t most_flips = 1000);

}  // namespace d5
