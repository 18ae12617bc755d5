// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/source/models.hpp"

namespace d5 {

void ModelOptions::declare(OptionList& options) {
  options.add("seed", seed, "seed of the initial weights");
  options.add("with_loss", with_loss, "add input \"label\" (int64) and scalar output \"loss\"");
  options.add("training", training, "batch normalization and dropout as in training");
}

void ClassifierOptions::declare(OptionList& options) {
  ModelOptions::declare(options);
  options.add("classes", classes, "number of classes; 0: the model's default", {.least = 0});
}

}  // namespace d5
