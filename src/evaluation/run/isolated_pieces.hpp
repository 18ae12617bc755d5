// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "d5/core/measuring/work_list.hpp"
#include "d5/evaluation/run/evaluate.hpp"
#include "evaluation/run/evaluated_model.hpp"

namespace d5::detail {

/// Runs the pieces of one model in one framework in one process of their own
/// (`EvaluateOptions::isolation`). The sink is called here, with the records, even for a piece that
/// crashed. The model's files are downloaded here, before.
[[nodiscard]] std::vector<WorkPiece> isolated_pieces(const FixedEvaluation& evaluation,
                                                     std::size_t model,
                                                     const FixedFramework& framework,
                                                     Conditions told,
                                                     const EvaluateOptions& options);

}  // namespace d5::detail
