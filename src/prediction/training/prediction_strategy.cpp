// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/training/prediction_strategy.hpp"

namespace d5 {

void apply_strategies(std::span<const EntryChoice> chain, PlannedTraining& plan) {
  for (const EntryChoice& choice : chain) {
    prediction_strategies().at(choice.name).make(choice.settings)->apply(plan);
  }
}

}  // namespace d5
