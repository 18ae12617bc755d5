// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/measuring/work_list.hpp"
#include "d5/evaluation/run/evaluate.hpp"
#include "evaluation/run/evaluated_model.hpp"

namespace d5::detail {

/// The system of an evaluation that matches this machine.
struct SystemChoice {
  const SystemManifest* system = nullptr;  ///< null: none
  std::string why_not = {};                ///< requirements of each that this machine misses
};
[[nodiscard]] SystemChoice choose_system(const std::vector<FoundManifest<SystemManifest>>& systems);

/// Conditions of its records, with its price.
[[nodiscard]] Conditions told_of(const SystemChoice& choice, const EvaluateOptions& options);
/// Pieces that run nothing, and are skipped with the reason.
void skip_all(const std::string& why_not, const EvaluateOptions& options,
              std::vector<WorkPiece>& pieces);

}  // namespace d5::detail
