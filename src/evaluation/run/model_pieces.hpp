// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "d5/core/measuring/command_line.hpp"
#include "d5/core/measuring/work_list.hpp"
#include "evaluation/run/cell_run.hpp"
#include "evaluation/run/evaluated_model.hpp"

namespace d5::detail {

/// The pieces of work of one model in one framework. `evaluation` and `options` outlive them.
///
/// Scenarios of pairs compare with the evaluation's first framework, which has none of them itself.
class ModelPieces {
 public:
  ModelPieces(const FixedEvaluation& evaluation, std::size_t model, const FixedFramework& framework,
              Conditions told, const EvaluateOptions& options);

  /// Its accuracy, if the evaluation includes it, and each cell.
  [[nodiscard]] std::vector<WorkPiece> all() const;
  [[nodiscard]] EvaluatedModel& model() const { return *model_; }

  [[nodiscard]] WorkPiece accuracy() const;
  /// A generator's losses on the texts that its manifest claims some for.
  [[nodiscard]] WorkPiece losses() const;
  /// The skipped piece of a model whose answers are text.
  [[nodiscard]] WorkPiece no_accuracy() const;
  [[nodiscard]] WorkPiece cell(const Cell& cell) const;

 private:
  /// The line of what is judged before any scenario.
  [[nodiscard]] CommandLine line_of_judging() const;
  [[nodiscard]] WorkPiece piece_called(const std::string& name, const std::string& metric) const;

  const EvaluationManifest& manifest_;
  const EvaluateOptions& options_;
  std::int64_t samples_;
  std::shared_ptr<EvaluatedModel> model_;
  std::shared_ptr<EvaluatedModel> base_;  ///< the model in the first framework; null: it is that
  std::string who_;
  EvaluationManifest asked_;  ///< the evaluation of this model in this framework
};

}  // namespace d5::detail
