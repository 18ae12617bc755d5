// SPDX-License-Identifier: Apache-2.0
#include "apps/listed_kinds.hpp"

#include "d5/evaluation/accuracy/accuracy_measure.hpp"
#include "d5/evaluation/analysis/analysis.hpp"
#include "d5/evaluation/generation/chat_template.hpp"
#include "d5/evaluation/load/scenario.hpp"
#include "d5/evaluation/pipeline/answer_step.hpp"
#include "d5/evaluation/predictor/predictor.hpp"

namespace d5::app {

void list_evaluation(std::vector<ListedKind>& kinds) {
  kinds.push_back(kind_of("predictors", predictors));
  kinds.push_back(kind_of("answer-steps", answer_steps));
  kinds.push_back(kind_of("accuracies", accuracy_measures));
  kinds.push_back(kind_of("scenarios", scenarios));
  kinds.push_back(kind_of("chat-templates", chat_templates));
  kinds.push_back(kind_of("analyses", analyses));
}

void carry_evaluation(CarriedValues& values) {
  values.emplace("--scenario", [] { return scenarios().names(); });
  values.emplace("--analysis", [] { return analyses().names(); });
}

}  // namespace d5::app
