// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/training/training_session.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/measuring/measure.hpp"
#include "d5/core/results/environment.hpp"
#include "d5/level1_network/graph/execution_event.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level2_training/data/batch_step.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"
#include "level1_network/graph/parameter_words.hpp"
#include "level1_network/graph/transform_steps.hpp"
#include "level2_training/optimization/taken_options.hpp"
#include "level2_training/training/changed_parameters.hpp"
#include "level2_training/training/epoch_report.hpp"
#include "level2_training/training/late_doubts.hpp"
#include "level2_training/training/trained_model.hpp"

namespace d5 {
namespace {

/// Effective number of an option, given or default; empty if there is no such option.
std::string number_in_force(const OptimizerEntry& entry, const Settings& settings,
                            std::string_view name) {
  const auto option = std::ranges::find(entry.options(), name, &Option::name);
  if (option == entry.options().end()) return "";
  return fmt::format("{}", settings.number(name, std::stod(option->initial)));
}

std::string words_of(const Recipe::Acceptable& acceptable) {
  const bool at_least = acceptable.bound == Recipe::Acceptable::Bound::at_least;
  return fmt::format("{} {}", at_least ? "at least" : "at most", acceptable.value);
}

/// Checks before the training that test inputs have the types of the training inputs.
void expect_alike(const DatasetPair& data) {
  for (const Dataset::Field& field : data.train->fields()) {
    const auto same = std::ranges::find(data.test->fields(), field.name, &Dataset::Field::name);
    if (same == data.test->fields().end() || same->desc.dtype == field.desc.dtype) continue;
    throw TypeError(fmt::format(
        "field '{}' of the training set is {}, that of the test set {}; 'test_steps' are the steps "
        "of the test set, as 'steps' are those of the training set",
        printable(field.name), to_string(field.desc), to_string(same->desc)));
  }
}

/// The reason why the result is not accepted; empty if it is.
std::string missed(const Measurement& result, const Recipe::Acceptable& acceptable) {
  const std::string wanted = words_of(acceptable);
  if (result.samples.empty()) return fmt::format("there is no sample, {} is accepted", wanted);
  const double value = estimate(result).value;
  const bool at_least = acceptable.bound == Recipe::Acceptable::Bound::at_least;
  if (at_least ? value >= acceptable.value : value <= acceptable.value) return "";
  return fmt::format("{} is not accepted: {} is", value, wanted);
}

/// Records the limit, and the statistic that is compared with it.
void announce(Measurement& result, const Recipe::Acceptable& acceptable) {
  result.conditions["accepted"] = finding(words_of(acceptable));
  if (acceptable.of) result.statistic = *acceptable.of;
}

}  // namespace

TrainingSession::TrainingSession(const Recipe& recipe, SessionOptions options,
                                 const Interrupt& interrupt)
    : recipe_(recipe), options_(std::move(options)) {
  training_ = recipe_.training();
  if (!options_.save.empty() && options_.writes_save) check_writable(options_.save);
  if (!options_.checkpoint.empty()) check_writable(options_.checkpoint);
  make_data(interrupt);
  make_optimizer();
  make_trainer();
  make_metrics();
  share_tests();
  resolve_names();
  if (!options_.resume.empty()) trainer_->resume(options_.resume);
}

TrainingSession::~TrainingSession() = default;

void TrainingSession::make_data(const Interrupt& interrupt) {
  EntryChoice dataset = recipe_.choice("dataset");
  const DatasetEntry& opener = datasets().at(dataset.name);
  if (!options_.data.empty()) dataset.settings.set("data", options_.data);
  opener.offer(dataset.settings, "seed", training_.seed);
  data_ = open_dataset(dataset.name, dataset.settings, interrupt);

  EntryChoice sampler = recipe_.choice("sampler", "shuffle");
  const SamplerEntry& order = samplers().at(sampler.name);
  const auto mixing = detail::take_options<BatchStepOptions>(sampler.settings);
  order.offer(sampler.settings, "seed", training_.seed);
  train_ = options_.make_train_sampler
               ? options_.make_train_sampler(order, data_.train, sampler.settings)
               : order.make(data_.train, sampler.settings);
  train_->read_ahead(options_.loader_threads);
  train_ = with_batch_steps(std::move(train_), mixing.batch_steps, training_.seed);
  if (!data_.test) return;
  expect_alike(data_);
  const SamplerEntry& in_order = samplers().at("ordered");
  const Settings of_tests{{"batch_size", training_.test_batch_size}};
  test_ = options_.make_test_sampler ? options_.make_test_sampler(in_order, data_.test, of_tests)
                                     : in_order.make(data_.test, of_tests);
  test_->read_ahead(options_.loader_threads);
}

ExecutorOptions TrainingSession::execution() const {
  return {.frameworks = options_.frameworks,
          .device = options_.device,
          .seed = training_.seed,
          .placement = options_.placement,
          .memory_limit = options_.memory_limit,
          .recompute = options_.recompute};
}

void TrainingSession::make_optimizer() {
  model_ = std::make_unique<detail::TrainedModel>(
      detail::trained_model(recipe_, *data_.train, options_.init));
  if (training_.precision != TrainingOptions::Precision::float32) {
    const bool is_half = training_.precision == TrainingOptions::Precision::float16;
    detail::apply_unjudged(
        model_->network,
        {{"half-precision", {{"type", is_half ? "float16" : "bfloat16"}, {"masters", true}}}});
  }
  const Network& whole = model_->network;
  std::shared_ptr<GraphExecutor> executor =
      options_.make_executor ? options_.make_executor(whole, model_->loss, execution())
                             : make_executor(whole, execution());
  executor->set_mode(model_->mode);
  EntryChoice optimizer = recipe_.choice("optimizer");
  const OptimizerEntry& rule = find_optimizer(optimizer.name);
  rule.offer(optimizer.settings, "seed", training_.seed);
  optimizer_ =
      open_optimizer(optimizer.name, std::move(executor), model_->loss, optimizer.settings);
  learning_rate_ = number_in_force(rule, optimizer.settings, "learning_rate");
  if (options_.wrap_optimizer) optimizer_ = options_.wrap_optimizer(std::move(optimizer_));
}

void TrainingSession::make_trainer() {
  std::string identity = recipe_.checksum() + "\n" + options_.variant;
  auto settings = recipe_.identity();
  if (!options_.variant.empty()) settings["ranks"] = options_.variant;
  for (const Artefact& artefact : model_->artefacts) {
    identity += "\n" + artefact.sha256;
    settings["content of " + artefact.name] = "SHA-256 " + artefact.sha256;
  }
  trainer_ = std::make_unique<Trainer>(*optimizer_, *train_, test_.get(),
                                       TrainerOptions{.epochs = training_.epochs,
                                                      .most_batches = training_.most_batches,
                                                      .checkpoint = options_.checkpoint,
                                                      .test_every = training_.test_every,
                                                      .checkpoint_every = options_.checkpoint_every,
                                                      .checkpoints_kept = options_.checkpoints_kept,
                                                      .ranks = options_.ranks,
                                                      .recipe = detail::sha256(identity),
                                                      .settings = std::move(settings),
                                                      .whole = model_->network});
  for (const auto& observer : options_.observers) trainer_->events().add(observer);
}

std::vector<Measurement> TrainingSession::run(const Interrupt& interrupt) {
  auto results = run_unjudged(interrupt);
  if (!trainer_->interrupted()) judge(results, recipe_);  // bounds apply to completed runs
  return results;
}

std::vector<Measurement> TrainingSession::run_unjudged(const Interrupt& interrupt) {
  if (options_.say) {
    const std::int64_t out = train_->left_out();
    options_.say(fmt::format("{}: {}, {} batches an epoch{}", printable(recipe_.name()),
                             data_.train->description(), train_->batches(),
                             out > 0 ? fmt::format(", which leave out {} samples", out) : ""));
    if (const std::string why = optimizer_->loss_weight().assumption(); !why.empty()) {
      options_.say(fmt::format("loss '{}' is taken for a mean over samples: {}",
                               printable(model_->loss), printable(why)));
    }
    for (const Recipe::File& file : recipe_.files()) {
      if (file.place == Recipe::File::Place::nowhere) continue;
      options_.say(fmt::format("{}: {}, {}", file.key, printable(file.path),
                               file.place == Recipe::File::Place::beside_recipe
                                   ? "beside the recipe"
                                   : "in the current folder"));
    }
    if (const auto lifted = count_lifted(model_->network); lifted > 0) {
      options_.say(fmt::format("{}: {} parameters are from Constant nodes or nodes' graphs",
                               printable(model_->name), lifted));
    }
    for (const auto& words : constant_words(model_->network)) {
      options_.say(fmt::format("{}: constant: {}", printable(model_->name), words));
    }
    if (!options_.resume.empty()) {
      options_.say(fmt::format("{}: resumed after step {}, in epoch {}{}",
                               printable(options_.resume), trainer_->step(), trainer_->epoch() + 1,
                               nothing_is_left() ? "; nothing is left to train" : ""));
    }
    if (!options_.init.path.empty()) {
      options_.say(fmt::format("{}: {}", printable(options_.init.path), to_string(model_->taken)));
    }
  }
  Subject subject{.record = record(),
                  .run = [&] { train(interrupt); },
                  .events = {&trainer_->events()},
                  .life = Subject::Life::once};
  std::vector<MetricChoice> choices;
  for (const auto& metric : metrics_) {
    choices.emplace_back([metric] { return metric; });
    const bool of_executor = dynamic_cast<ExecutionEvent*>(metric.get()) != nullptr;
    if (of_executor && subject.events.size() == 1) {
      subject.events.push_back(&optimizer_->executor().events());
    }
  }
  // Another rank may have been interrupted.
  Interrupt any_rank = interrupt;
  any_rank.wished = [&] {
    return trainer_->interrupted() || (interrupt.wished && interrupt.wished());
  };
  auto results = measure({subject}, choices, {.interrupt = any_rank});
  if (!options_.checkpoint.empty()) detail::keep_late_doubts(options_.checkpoint, results);
  for (Measurement& result : results) {
    result.conditions["steps"] = finding(trainer_->step());
    for (const auto& acceptable : recipe_.acceptable()) {
      if (acceptable.metric == result.metric) announce(result, acceptable);
    }
  }
  return results;
}

bool TrainingSession::nothing_is_left() const {
  return trainer_->epoch() >= training_.epochs ||
         (training_.most_batches > 0 && trainer_->step() >= training_.most_batches);
}

/// Runs the training. An epoch is reported after the metrics have seen it.
void TrainingSession::train(const Interrupt& interrupt) {
  std::shared_ptr<Event> report;
  if (options_.say) report = std::make_shared<detail::EpochReport>(options_.say, metrics_);
  EventList& events = trainer_->events();
  if (report) events.add(report);
  const detail::ChangedParameters changed(optimizer_->executor().network());
  const std::int64_t first_step = trainer_->step();
  try {
    if (options_.run_trainer) {
      options_.run_trainer(*trainer_, interrupt);
    } else {
      trainer_->run(interrupt);
    }
    if (!trainer_->interrupted()) changed.expect_any(*optimizer_, trainer_->step() - first_step);
  } catch (const std::exception& error) {
    failure_ = std::current_exception();
    if (options_.say) options_.say(error.what());
    events.remove(report.get());
    throw;
  }
  events.remove(report.get());
  if (!options_.save.empty()) save(options_.save);
}

void TrainingSession::save(const std::string& path) {
  const TestParameters lent(*optimizer_);
  if (options_.writes_save) model_->learnt().save(path);
}

void judge(Measurement& result, const Recipe::Acceptable& acceptable) {
  announce(result, acceptable);
  if (result.status == Status::failed) return;  // its reason says more
  const std::string miss = missed(result, acceptable);
  if (miss.empty()) return;
  result.status = Status::failed;
  result.reason = miss;
}

void judge(std::vector<Measurement>& results, const Recipe& recipe) {
  for (auto& result : results) {
    for (const auto& acceptable : recipe.acceptable()) {
      if (acceptable.metric != result.metric) continue;
      if (!recipe.is_compared()) {
        judge(result, acceptable);
        continue;
      }
      announce(result, acceptable);
      if (!missed(result, acceptable).empty()) {
        result.conditions["accepted"] = finding(words_of(acceptable) + ", missed");
      }
    }
  }
}

RecipeRun run_recipe(const Recipe& recipe, SessionOptions options, const Interrupt& interrupt) {
  TrainingSession session(recipe, std::move(options), interrupt);
  RecipeRun run;
  run.results.measurements = session.run(interrupt);
  run.results.environment = environment();
  run.accepted = std::ranges::none_of(run.results.measurements, [](const Measurement& result) {
    return result.status == Status::failed;
  });
  return run;
}

}  // namespace d5
