// SPDX-License-Identifier: Apache-2.0
#include "evaluation/run/model_pieces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "d5/core/entries/entry_words.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"
#include "evaluation/run/accuracy_run.hpp"
#include "evaluation/run/asked_line.hpp"
#include "evaluation/run/generator_judgement.hpp"
#include "evaluation/run/watched_run.hpp"

namespace d5::detail {
namespace {

/// A scenario and the batch sizes that it runs with.
struct BatchedScenario {
  EntryChoice scenario;  ///< without the setting `batch`
  std::vector<std::int64_t> batches;
};

/// The batch sizes of a scenario's cells: its own `batch`, those of the evaluation, or 1 if the
/// scenario asks for one sample after the other. Throws: ValueError if the two differ.
BatchedScenario split_batches(EntryChoice scenario, const std::vector<std::int64_t>& asked) {
  const ScenarioEntry& entry = scenarios().at(scenario.name);
  const auto made = entry.make(scenario.settings);
  if (!made->batches()) return {std::move(scenario), {1}};
  if (!entry.has_option("batch") || !scenario.settings.has("batch")) {
    return {std::move(scenario), asked};
  }
  const std::int64_t own = scenario.settings.integer("batch", 1);
  const bool is_only_usual = asked == EvaluationManifest().batches;
  if (!is_only_usual && std::ranges::find(asked, own) == asked.end()) {
    throw ValueError(fmt::format("scenario {} has batches of {}, but {} is given; leave one out",
                                 to_words(scenario), own, option_word("batch", asked.front())));
  }
  (void)scenario.settings.take("batch", "");
  return {std::move(scenario), {own}};
}

/// Each scenario with each batch size, repetition and trace level. Trace levels are compared with
/// each other, so they take turns, in an order that is drawn for each repetition.
std::vector<Cell> cells_of(const EvaluationManifest& manifest) {
  std::vector<Cell> cells;
  std::vector<std::int64_t> order(manifest.trace_levels.size());
  for (const EntryChoice& asked : manifest.scenarios) {
    const auto [scenario, batches] = split_batches(asked, manifest.batches);
    for (const std::int64_t batch : batches) {
      RandomStream random(std::uint64_t(manifest.seed), stream_of("trace levels"));
      for (std::int64_t i = 0; i < manifest.repetitions; ++i) {
        std::iota(order.begin(), order.end(), 0);
        if (i > 0) random.shuffle(order);  // the first in the given order
        for (const std::int64_t level : order) {
          cells.push_back({scenario, batch, i, manifest.trace_levels[std::size_t(level)]});
        }
      }
    }
  }
  return cells;
}

}  // namespace

ModelPieces::ModelPieces(const FixedEvaluation& evaluation, std::size_t model,
                         const FixedFramework& framework, Conditions told,
                         const EvaluateOptions& options)
    : manifest_(evaluation.manifest),
      options_(options),
      samples_(std::int64_t(evaluation.datasets[model].manifest.samples.size())),
      model_(std::make_shared<EvaluatedModel>(evaluation, model, framework, options.interrupt)),
      who_(model_->manifest().reference() + " " + framework.word),
      asked_(asked_of(manifest_, model, framework.word)) {
  model_->told = std::move(told);
  const FixedFramework& first = evaluation.frameworks.front();
  if (&framework != &first) {
    base_ = std::make_shared<EvaluatedModel>(evaluation, model, first, options.interrupt);
  }
}

std::vector<WorkPiece> ModelPieces::all() const {
  std::vector<WorkPiece> pieces;
  if (manifest_.accuracy) {
    if (model_->generator()) {
      pieces.push_back(losses());
    } else {
      pieces.push_back(model_->manifest().has_network() ? accuracy() : no_accuracy());
    }
  }
  for (const Cell& one : cells_of(manifest_)) {
    if (base_ || !is_paired(*scenario_of(one))) pieces.push_back(cell(one));
  }
  return pieces;
}

WorkPiece ModelPieces::accuracy() const {
  const std::int64_t batch = manifest_.batches.front();
  const auto& claims = model_->manifest().accuracy;
  WorkPiece piece = piece_called("accuracy", claims.empty() ? "accuracy" : claims.front().measure);
  piece.samples = std::max<std::int64_t>(samples_, 1);
  piece.record.command = line_of_judging().append(options_.command_options).text();
  piece.run = [&manifest = manifest_, &options = options_, model = model_, batch,
               line = piece.record.command,
               name = piece.name](const std::function<void()>& sampled) {
    WatchedRun watched({model->word()});
    auto run = run_accuracy(*model, {.batch = batch,
                                     .stage_threads = static_cast<int>(manifest.stage_threads),
                                     .sampled = sampled,
                                     .interrupt = options.interrupt});
    const std::vector<std::string> disturbances = watched.end();
    if (options.steps) {
      std::vector<Measurement> steps;
      add_step_records(model->record(), run.pipeline, steps);
      mistrust_times(steps, disturbances);
      std::ranges::move(steps, std::back_inserter(run.records));
    }
    for (Measurement& one : run.records) one.command = line;
    if (options.sink) {
      options.sink->answers(options.run, name, run.answers);
      options.sink->measurements(options.run, name, run.records);
    }
    return run.records;
  };
  return piece;
}

WorkPiece ModelPieces::losses() const {
  WorkPiece piece = piece_called("loss", "loss");
  piece.record.unit = "nat";
  piece.record.command =
      line_of_judging().option("--scenario", "").append(options_.command_options).text();
  piece.run = [&options = options_, model = model_, batch = manifest_.batches.front(),
               line = piece.record.command, name = piece.name](const std::function<void()>&) {
    auto records = run_losses(*model, batch);
    for (Measurement& one : records) one.command = line;
    if (options.sink) options.sink->measurements(options.run, name, records);
    return records;
  };
  return piece;
}

WorkPiece ModelPieces::no_accuracy() const {
  WorkPiece piece = piece_called("accuracy", "accuracy");
  piece.record.status = Status::skipped;
  piece.record.reason = "no accuracy measure judges generated text";
  piece.run = [&options = options_, name = piece.name,
               record = piece.record](const std::function<void()>&) {
    if (options.sink) options.sink->measurements(options.run, name, {&record, 1});
    return std::vector{record};
  };
  return piece;
}

WorkPiece ModelPieces::cell(const Cell& cell) const {
  const std::string scenario = to_words(cell.scenario);
  WorkPiece piece = piece_called(fmt::format("{} batch {}", scenario, cell.batch), "latency");
  piece.record.unit = "s";
  piece.record.quantity = Quantity::time;
  piece.record.conditions["scenario"] = identity(scenario);
  piece.record.conditions["batch"] = identity(cell.batch);
  EvaluationManifest asked = asked_;
  asked.scenarios = {cell.scenario};
  asked.batches = {cell.batch};
  asked.trace_levels = {cell.trace_level};
  asked.repetitions = 1;
  asked.seed += cell.repetition;
  const auto made = scenario_of(cell);
  const auto base = is_paired(*made) ? base_ : nullptr;
  if (base) asked.frameworks.insert(asked.frameworks.begin(), base->word());
  piece.record.command = asked_line("eval run", asked).append(options_.command_options).text();
  add_serving(manifest_, piece);
  if (cell.trace_level != "none") {
    piece.record.conditions["trace level"] = identity(cell.trace_level);
    piece.name += " trace " + cell.trace_level;
  }
  if (manifest_.repetitions > 1) {
    piece.record.conditions["repetition"] = setting(cell.repetition + 1);
    piece.name += fmt::format(" repetition {}", cell.repetition + 1);
  }
  // Counts queries for the progress, which all cost a predict, like accuracy's samples.
  piece.samples = length_of(*made, manifest_).queries;
  piece.run = [&manifest = manifest_, &options = options_, model = model_, base, cell,
               record = piece.record, name = piece.name,
               count = piece.samples](const std::function<void()>& sampled) {
    auto records = run_cell(*model, base.get(), manifest, cell, record, options, name);
    if (options.sink) options.sink->measurements(options.run, name, records);
    for (std::int64_t i = 0; i < count; ++i) sampled();
    return records;
  };
  return piece;
}

CommandLine ModelPieces::line_of_judging() const {
  EvaluationManifest asked;
  asked.models = asked_.models;
  asked.frameworks = asked_.frameworks;
  asked.dataset = asked_.dataset;
  asked.split = asked_.split;
  asked.batches = {manifest_.batches.front()};
  asked.threads = asked_.threads;
  asked.stage_threads = asked_.stage_threads;
  return asked_line("eval run", asked);
}

WorkPiece ModelPieces::piece_called(const std::string& name, const std::string& metric) const {
  WorkPiece piece;
  piece.record = model_->record();
  piece.record.metric = metric;
  piece.name = who_ + " " + name;
  return piece;
}

}  // namespace d5::detail
