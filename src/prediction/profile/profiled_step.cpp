// SPDX-License-Identifier: Apache-2.0
#include "prediction/profile/profiled_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "d5/core/entries/entry_words.hpp"
#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "d5/level1_network/source/network_inputs.hpp"
#include "d5/level2_training/data/sampler.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"
#include "level3_distributed/communicator/of_ranks.hpp"

namespace d5 {
namespace {

class ModelStep final : public ProfiledStep {
 public:
  ModelStep(const std::string& model, const std::string& framework, std::int64_t size,
            const ProfileOptions& options, const ExecutorOptions& execution)
      : name_(options.optimizer) {
    const OpenSizes sizes{.batch = size};
    Settings wishes = run_wishes(framework, sizes, execution);
    wishes.set("with_loss", true);
    wishes.set("training", true);
    auto executor =
        open_executor(framework, open_model(model, wishes, options.interrupt), execution);
    const std::string loss = loss_of(executor->network());
    if (loss.empty()) {
      throw Unsupported(
          fmt::format("profile of '{}': the network has no scalar output 'loss' to train on; "
                      "built-in networks have one, and a recipe adds one to a file",
                      printable(model)));
    }
    NetworkInputs inputs = network_inputs(model, *executor, sizes, {}, execution.seed);
    batch_.values = std::move(inputs.values);
    batch_.size = size;
    const EntryChoice choice = entry_of_words("optimizer", options.optimizer);
    optimizer_ = open_optimizer(choice.name, std::move(executor), loss, choice.settings);
  }
  Optimizer& optimizer() override { return *optimizer_; }
  const Batch& next() override { return batch_; }
  bool loads() const override { return false; }
  std::string optimizer_name() const override { return name_; }

 private:
  std::string name_;
  Batch batch_;
  std::shared_ptr<Optimizer> optimizer_;
};

class RecipeStep final : public ProfiledStep {
 public:
  RecipeStep(const Recipe& recipe, const std::string& framework, std::int64_t size,
             const ProfileOptions& options, const ExecutorOptions& execution)
      : size_(size),
        name_(recipe.choice("optimizer").name),
        session_(recipe,
                 {.frameworks = ExecutorWord(framework).frameworks(),
                  .placement = execution.placement,
                  .device = execution.device,
                  .memory_limit = execution.memory_limit,
                  .recompute = execution.recompute,
                  .data = options.data},
                 options.interrupt) {
    session_.trainer().train_sampler().reset(0);
  }
  Optimizer& optimizer() override { return session_.trainer().optimizer(); }
  const Batch& next() override {
    Sampler& sampler = session_.trainer().train_sampler();
    for (int tries = 0; tries < 2; ++tries) {
      // Skips the last batch of an epoch if it is shorter, because its step differs.
      while (const Batch* batch = sampler.next()) {
        if (batch->size == size_) return *batch;
      }
      sampler.reset(++epoch_);
    }
    throw ValueError(fmt::format(
        "profile: the recipe's data set has no batch of {} samples; give a smaller one, {}", size_,
        option_word("batch")));
  }
  bool loads() const override { return true; }
  std::string optimizer_name() const override { return name_; }

 private:
  std::int64_t size_, epoch_ = 0;
  std::string name_;
  TrainingSession session_;
};

Recipe changed_recipe(const std::string& file_or_name, const std::vector<std::string>& changes) {
  Recipe recipe = load_recipe(file_or_name);
  for (const auto& change : changes) recipe.set(change);
  return recipe;
}

std::int64_t batch_of(const Recipe& recipe) {
  return recipe.choice("sampler", "shuffle")
      .settings.integer("batch_size", SamplerOptions{}.batch_size);
}

}  // namespace

bool is_recipe(const std::string& word) {
  const auto carried = carried_recipes();
  return word.ends_with(".yaml") || word.ends_with(".yml") ||
         std::ranges::find(carried, word) != carried.end();
}

std::int64_t usual_batch(const std::string& model_or_recipe,
                         const std::vector<std::string>& changes) {
  if (!is_recipe(model_or_recipe)) return ProfileOptions{}.batches.front();
  return batch_of(changed_recipe(model_or_recipe, changes));
}

Recipe recipe_to_profile(const std::string& file_or_name, const std::vector<std::string>& changes,
                         std::int64_t batch) {
  Recipe recipe = changed_recipe(file_or_name, changes);
  // The fixed part of a recipe refuses even its own value.
  if (batch != batch_of(recipe)) recipe.set(fmt::format("sampler.batch_size={}", batch));
  return recipe;
}

std::unique_ptr<ProfiledStep> open_profiled_step(const std::string& model_or_recipe,
                                                 const std::string& framework, std::int64_t batch,
                                                 const ProfileOptions& options,
                                                 const ExecutorOptions& execution) {
  if (!is_recipe(model_or_recipe)) {
    expect_no_recipe_options(model_or_recipe, options.changes, options.data);
    return std::make_unique<ModelStep>(model_or_recipe, framework, batch, options, execution);
  }
  if (options.optimizer != ProfileOptions{}.optimizer) {
    throw ValueError(fmt::format(
        "profile of '{}': optimizer {} is given, expected none: a recipe has its own; change it by "
        "optimizer.name={}",
        printable(model_or_recipe), printable(options.optimizer),
        printable(options.optimizer.substr(0, options.optimizer.find(':')))));
  }
  return std::make_unique<RecipeStep>(recipe_to_profile(model_or_recipe, options.changes, batch),
                                      framework, batch, options, execution);
}

void expect_no_recipe_options(const std::string& model, const std::vector<std::string>& changes,
                              const std::string& data) {
  if (changes.empty() && data.empty()) return;
  throw ValueError(fmt::format(
      "profile of '{}': {} is of a recipe, expected none: this is a model, whose data is made up",
      printable(model),
      changes.empty() ? "a data set's folder" : "the change " + printable(changes.front())));
}

std::int64_t steps_wanted(const ProfileOptions& options, double once, Communicator& ranks) {
  constexpr std::int64_t kMost = 500;
  const double slowest = detail::largest_of_ranks(ranks, once);
  const double steps = slowest > 0 ? std::ceil(options.least_seconds / slowest) : 0;
  if (steps <= static_cast<double>(options.steps)) return options.steps;
  return std::max(options.steps, static_cast<std::int64_t>(std::min<double>(kMost, steps)));
}

}  // namespace d5
