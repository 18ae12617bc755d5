// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/evaluate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/command_line.hpp"
#include "d5/core/entry_words.hpp"
#include "evaluation/evaluation/accuracy_run.hpp"
#include "evaluation/evaluation/cell_run.hpp"

namespace d5 {
namespace {

using detail::Cell;
using detail::EvaluatedModel;

/// The pieces of one model in one framework.
class ModelPieces {
 public:
  ModelPieces(const FixedEvaluation& evaluation, std::size_t m, const std::string& word,
              const EvaluateOptions& options)
      : manifest_(evaluation.manifest),
        options_(options),
        samples_(std::int64_t(evaluation.datasets[m].manifest.samples.size())),
        model_(std::make_shared<EvaluatedModel>(evaluation, m, word, options.interrupt)),
        who_(model_->manifest().reference() + " " + word),
        line_(CommandLine("eval run").word(manifest_.models[m]).option("--framework", word)) {
    if (!manifest_.dataset.empty()) line_.option("--dataset", manifest_.dataset);
    if (!manifest_.split.empty()) line_.option("--split", manifest_.split);
  }

  [[nodiscard]] WorkPiece accuracy() const {
    const std::int64_t batch = manifest_.batches.front();
    WorkPiece piece = piece_called("accuracy", "top1");
    piece.samples = std::max<std::int64_t>(samples_, 1);
    piece.record.command =
        CommandLine(line_).option("--batch", batch).append(options_.command_options).text();
    piece.run = [&manifest = manifest_, &options = options_, model = model_, batch,
                 line = piece.record.command,
                 name = piece.name](const std::function<void()>& sampled) {
      auto run =
          detail::run_accuracy(*model, {.batch = batch,
                                        .stage_threads = static_cast<int>(manifest.stage_threads),
                                        .sampled = sampled,
                                        .interrupt = options.interrupt});
      if (options.steps) detail::add_step_records(model->record(), run.pipeline, run.records);
      for (Measurement& one : run.records) one.command = line;
      if (options.sink) {
        options.sink->answers(options.run, name, run.answers);
        options.sink->measurements(options.run, name, run.records);
      }
      return run.records;
    };
    return piece;
  }

  [[nodiscard]] WorkPiece cell(const Cell& cell) const {
    const std::string scenario = to_words(cell.scenario);
    WorkPiece piece = piece_called(fmt::format("{} batch {}", scenario, cell.batch), "latency");
    piece.record.unit = "s";
    piece.record.quantity = Quantity::time;
    piece.record.conditions["scenario"] = scenario;
    piece.record.conditions["batch"] = std::to_string(cell.batch);
    CommandLine line =
        CommandLine(line_).option("--scenario", scenario).option("--batch", cell.batch);
    const EvaluationManifest usual;
    if (manifest_.queries != usual.queries) line.option("--queries", manifest_.queries);
    if (manifest_.seconds != usual.seconds) line.option("--seconds", manifest_.seconds);
    if (cell.trace_level != "none") {
      piece.record.conditions["trace level"] = cell.trace_level;
      piece.name += " trace " + cell.trace_level;
      line.option("--trace-level", cell.trace_level);
    }
    if (manifest_.repetitions > 1) {
      piece.record.conditions["repetition"] = std::to_string(cell.repetition + 1);
      piece.name += fmt::format(" repetition {}", cell.repetition + 1);
    }
    piece.record.command = line.append(options_.command_options).text();
    piece.run = [&manifest = manifest_, &options = options_, model = model_, cell,
                 record = piece.record, name = piece.name](const std::function<void()>& sampled) {
      auto records = detail::run_cell(*model, manifest, cell, record, options, name);
      if (options.sink) options.sink->measurements(options.run, name, records);
      sampled();
      return records;
    };
    return piece;
  }

 private:
  [[nodiscard]] WorkPiece piece_called(const std::string& name, const std::string& metric) const {
    WorkPiece piece;
    piece.record = model_->record();
    piece.record.metric = metric;
    piece.name = who_ + " " + name;
    return piece;
  }

  const EvaluationManifest& manifest_;
  const EvaluateOptions& options_;
  std::int64_t samples_;
  std::shared_ptr<EvaluatedModel> model_;
  std::string who_;
  CommandLine line_;
};

/// Each scenario with each batch, level of trace and repetition.
std::vector<Cell> cells_of(const EvaluationManifest& manifest) {
  std::vector<Cell> cells;
  for (const EntryChoice& scenario : manifest.scenarios) {
    for (const std::int64_t batch : manifest.batches) {
      for (const std::string& level : manifest.trace_levels) {
        for (std::int64_t i = 0; i < manifest.repetitions; ++i) {
          cells.push_back({scenario, batch, i, level});
        }
      }
    }
  }
  return cells;
}

}  // namespace

std::vector<WorkPiece> evaluation_work(const FixedEvaluation& evaluation,
                                       const EvaluateOptions& options) {
  std::vector<WorkPiece> pieces;
  for (std::size_t m = 0; m < evaluation.models.size(); ++m) {
    for (const std::string& word : evaluation.manifest.frameworks) {
      const ModelPieces model(evaluation, m, word, options);
      if (evaluation.manifest.accuracy) pieces.push_back(model.accuracy());
      for (const Cell& cell : cells_of(evaluation.manifest)) pieces.push_back(model.cell(cell));
    }
  }
  return pieces;
}

Results evaluate(const EvaluationManifest& manifest, const EvaluateOptions& options) {
  const FixedEvaluation evaluation = fix_evaluation(manifest);
  return run_work(evaluation_work(evaluation, options), {.how = "evaluation " + evaluation.key,
                                                         .out = options.out,
                                                         .resume = options.resume,
                                                         .interrupt = options.interrupt})
      .results;
}

}  // namespace d5
