// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tests/apps/program_run.hpp"

namespace d5::testing {

/// Starts two ranks.
inline constexpr const char* kMpirun = "mpirun --oversubscribe -np 2";

/// Options of a `TrainingJob`.
struct FewSteps {
  std::string dataset = {};  ///< further settings, each after a comma
  std::string training = "epochs: 1, most_batches: 6";
  std::string sections = {};  ///< further sections of the recipe, whole lines
  std::string file = "recipe.yaml";
};

/// A folder with a recipe: a few steps of LeNet on the sample of MNIST.
class TrainingJob : public TemporaryFolder {
 public:
  explicit TrainingJob(const FewSteps& steps = {}) : recipe_(*this / steps.file) {
    write(recipe_, R"(name: few-steps
fixed:
  dataset: {name: mnist, subset: sample)" +
                       steps.dataset + R"(}
  model: {name: lenet}
mutable:
  sampler: {name: shuffle, batch_size: 32, tail: keep}
  optimizer: {name: momentum, learning_rate: 0.02, momentum: 0.9}
  training: {)" + steps.training +
                       R"(, seed: 1}
)" + steps.sections);
  }
  [[nodiscard]] const std::string& recipe() const { return recipe_; }
  /// The arguments that run it, its results in the file `out` of the folder.
  [[nodiscard]] std::string train(const std::string& out) const {
    return "train '" + recipe_ + "' --quiet --out " + (*this / out);
  }

 private:
  std::string recipe_;
};

}  // namespace d5::testing
