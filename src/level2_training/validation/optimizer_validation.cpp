// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/validation/optimizer_validation.hpp"

#include <fmt/format.h>

#include "d5/core/entries/entry_words.hpp"
#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/measuring/command_line.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/source/models.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"
#include "d5/level2_training/validation/training_validation.hpp"
#include "level2_training/validation/differing_elements.hpp"

namespace d5 {
namespace {

constexpr std::int64_t kBatch = 16;

/// One optimizer and its data, in their initial state.
struct Trial {
  Trial(const EntryChoice& choice, const OptimizerCheck& how) {
    Network network = models().at("lenet").make({{"seed", how.seed}, {"with_loss", true}});
    const OptimizerEntry& entry = find_optimizer(choice.name);
    Settings settings = choice.settings;
    entry.offer(settings, "seed", how.seed);
    optimizer = open_optimizer(choice.name,
                               open_executor(how.framework, std::move(network), {.seed = how.seed}),
                               "loss", settings);
    data = samplers().at("shuffle").make(open_dataset("mnist", {{"subset", "sample"}}).train,
                                         {{"batch_size", kBatch}, {"seed", how.seed}});
    data->reset(0);
  }

  void train(std::int64_t steps) {
    for (std::int64_t step = 0; step < steps; ++step) optimizer->step(*data->next());
  }
  [[nodiscard]] Network& network() const { return optimizer->executor().network(); }

  std::shared_ptr<Optimizer> optimizer;
  std::shared_ptr<Sampler> data;
};

Measurement optimizer_record(const std::string& metric, Quantity quantity) {
  Measurement result;
  result.metric = metric;
  result.unit = "1";
  result.quantity = quantity;
  return result;
}

/// The optimizer to compare with; without a name if there is none. It inherits the subject's
/// options.
EntryChoice judge_of(const EntryChoice& optimizer, const OptimizerCheck& how) {
  EntryChoice judge = how.against;
  if (judge.name.empty()) {
    const std::size_t slash = optimizer.name.find('/');
    const std::string own = slash == std::string::npos ? "" : optimizer.name.substr(slash + 1);
    if (!optimizers().find(own)) return {};
    judge.name = own;
  }
  const OptimizerEntry& entry = find_optimizer(judge.name);
  for (const auto& [name, value] : optimizer.settings.values()) {
    entry.offer(judge.settings, name, value);
  }
  return judge;
}

/// Compares the optimizer with its judge, in both loops.
OptimizerJudgement trajectory(const EntryChoice& optimizer, const OptimizerCheck& how) {
  const EntryChoice judge = judge_of(optimizer, how);
  if (judge.name.empty()) {
    Trial(optimizer, how).train(how.steps);
    Measurement result = optimizer_record("trajectory_difference", Quantity::error);
    result.status = Status::skipped;
    result.reason =
        fmt::format("it ran, but was not compared; give an optimizer that should do the same ({})",
                    option_word("against", "NAME"));
    return {.records = {result}};
  }
  const auto maker = [&](const EntryChoice& choice) {
    return [&] { return Trial(choice, how).optimizer; };
  };
  const Trial data(optimizer, how);
  auto result = test_optimizer(maker(optimizer), maker(judge), *data.data, how.steps);
  if (how.parameters == OptimizerCheck::Parameters::together) result.records.resize(2);
  for (Measurement& one : result.records) one.conditions["against"] = identity(to_words(judge));
  return result;
}

Measurement repeatability(const EntryChoice& optimizer, const OptimizerCheck& how) {
  Measurement result = optimizer_record("optimizer_repeatability", Quantity::error);
  result.statistic = {.of = Statistic::Of::maximum};
  const auto compare = [&](Network& first, Network& other, const char* what) {
    const std::int64_t different = detail::differing_elements(first, other);
    result.samples.push_back(double(different));
    if (different == 0 || result.status == Status::failed) return;
    result.status = Status::failed;
    result.reason = fmt::format("{} parameter elements differ when {}", different, what);
  };
  Trial first(optimizer, how), again(optimizer, how), continued(optimizer, how);
  const std::int64_t middle = how.steps / 2;
  first.train(middle);
  for (const Parameter& parameter : first.network().parameters()) {
    continued.network().parameter(parameter.name).value.copy_from(parameter.value);
  }
  ValueMap state;  // copies, as an optimizer may share its tensors
  for (const auto& [name, value] : first.optimizer->state()) state[name] = value.tensor().copy();
  continued.optimizer->restore(state);
  continued.data->seek(0, middle);
  first.train(how.steps - middle);
  again.train(how.steps);
  continued.train(how.steps - middle);
  compare(first.network(), again.network(), "the same is trained again");
  compare(first.network(), continued.network(),
          "a fresh optimizer goes on from its state in the middle");
  return result;
}

Measurement descent(const EntryChoice& optimizer, const OptimizerCheck& how) {
  Trial trial(optimizer, how);
  const Batch& batch = *trial.data->next();
  const auto loss = [&] {
    return double(trial.optimizer->step(batch).find("loss")->second.tensor().item<float>());
  };
  const double before = loss();
  for (std::int64_t step = 2; step < how.steps; ++step) (void)loss();
  const double after = loss();
  Measurement result = optimizer_record("loss_ratio", Quantity::ratio);
  result.statistic = {.of = Statistic::Of::single};
  result.samples = {after / before};
  if (!(after < before)) {
    result.status = Status::failed;
    result.reason = fmt::format(
        "the loss of one batch is {:.4g} after {} steps on it, it was {:.4g}; a smaller "
        "learning_rate may serve",
        after, how.steps, before);
  }
  return result;
}

}  // namespace

std::vector<Measurement> check_optimizer(const EntryChoice& optimizer, const OptimizerCheck& how) {
  if (how.steps < 2)
    throw ValueError(
        fmt::format("check_optimizer: {} steps given, at least 2 are needed", how.steps));
  OptimizerJudgement judgement = trajectory(optimizer, how);
  if (how.drawn)
    *how.drawn = divergence_plot(to_words(optimizer), judgement.closed, judgement.open);
  std::vector<Measurement> results = std::move(judgement.records);
  results.push_back(repeatability(optimizer, how));
  results.push_back(descent(optimizer, how));
  CommandLine line("optimizer check");
  line.word(to_words(optimizer));
  if (!how.against.name.empty()) line.option("--against", to_words(how.against));
  line.runs_in({how.framework}).option("--steps", how.steps).option("--seed", how.seed);
  if (how.parameters == OptimizerCheck::Parameters::each) line.flag("--each-parameter");
  for (Measurement& result : results) {
    result.subject = "optimizer " + to_words(optimizer);
    result.command = line.text();
    result.level = "training";
    result.framework = how.framework;
    result.framework_version = version_of(how.framework);
    result.conditions["network"] = identity("lenet");
    result.conditions["batch"] = identity(kBatch);
    result.conditions["steps"] = setting(how.steps);
    result.conditions["seed"] = setting(how.seed);
  }
  return results;
}

}  // namespace d5
