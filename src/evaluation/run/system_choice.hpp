// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/measuring/work_list.hpp"
#include "d5/evaluation/run/evaluate.hpp"
#include "evaluation/run/evaluated_model.hpp"

namespace d5::detail {

/// The system of an evaluation that this machine is.
struct SystemChoice {
  const SystemManifest* system = nullptr;  ///< null: none of them
  std::string why_not = {};                ///< what this machine has not, of each
};
[[nodiscard]] SystemChoice choose_system(const std::vector<FoundManifest<SystemManifest>>& systems);

/// What its records say of it, and of its price.
[[nodiscard]] Conditions told_of(const SystemChoice& choice, const EvaluateOptions& options);
/// Pieces that run nothing, and are skipped with the reason.
void skip_all(const std::string& why_not, const EvaluateOptions& options,
              std::vector<WorkPiece>& pieces);

}  // namespace d5::detail
