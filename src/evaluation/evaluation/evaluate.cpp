// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/evaluate.hpp"

#include <fmt/format.h>

#include <numeric>

#include "d5/core/command_line.hpp"
#include "d5/core/entry_words.hpp"
#include "d5/core/error.hpp"
#include "d5/evaluation/scenario.hpp"
#include "evaluation/evaluation/accuracy_run.hpp"
#include "evaluation/evaluation/pipeline_system.hpp"

namespace d5 {
namespace {

using detail::EvaluatedModel;

/// One scenario with one batch and one level of trace.
struct Cell {
  EntryChoice scenario;
  std::int64_t batch = 1, repetition = 0;
  std::string trace_level = "none";
};

Measurement cold_start_record(const Measurement& record, const char* metric, double seconds) {
  Measurement cold = record;
  cold.metric = metric;
  cold.unit = "s";
  cold.quantity = Quantity::time;
  cold.statistic = {.of = Statistic::Of::single};
  cold.samples = {seconds};
  return cold;
}

void add_cold_start(EvaluatedModel& model, const Measurement& record,
                    std::vector<Measurement>& records) {
  if (const auto cold = model.take_cold_start()) {
    records.push_back(cold_start_record(record, "cold_start", cold->open_seconds));
    records.push_back(cold_start_record(record, "first_predict", cold->first_seconds));
  }
}

std::vector<Measurement> run_cell(EvaluatedModel& model, const EvaluationManifest& manifest,
                                  const Cell& cell, Measurement record,
                                  const EvaluateOptions& options, const std::string& piece) {
  Predictor& predictor = model.predictor(cell.batch);
  record.framework_version = predictor_version(model.word());
  detail::PipelineSystem system(model.pipeline(), predictor, cell.batch);
  std::vector<std::int64_t> samples(std::size_t(system.samples()));
  std::iota(samples.begin(), samples.end(), std::int64_t{0});
  system.load(samples);
  auto scenario = scenarios().at(cell.scenario.name).make(cell.scenario.settings);
  const ScenarioResult run =
      scenario->run(system, {.least_seconds = manifest.seconds,
                             .least_queries = manifest.queries,
                             .seed = std::uint64_t(manifest.seed + cell.repetition),
                             .interrupt = options.interrupt});
  system.unload();
  std::vector<Measurement> records;
  add_cold_start(model, record, records);
  for (const Measurement& measured : run.measurements) {
    Measurement one = measured;
    one.subject = record.subject;
    one.level = record.level;
    one.framework = record.framework;
    one.framework_version = record.framework_version;
    one.command = record.command;
    one.artefacts = record.artefacts;
    for (const auto& [name, text] : record.conditions) one.conditions[name] = text;
    for (const auto& [name, text] : run.conditions) one.conditions.try_emplace(name, text);
    if (one.status == Status::passed && run.status != Status::passed) {
      one.status = run.status;
      one.reason = run.reason;
    }
    if (!model.fault.empty()) mistrust(one, "its answers are not right: " + model.fault);
    records.push_back(std::move(one));
  }
  if (options.sink) options.sink->queries(manifest.reference(), piece, run.queries);
  return records;
}

}  // namespace

std::vector<WorkPiece> evaluation_work(const FixedEvaluation& evaluation,
                                       const EvaluateOptions& options) {
  const EvaluationManifest& manifest = evaluation.manifest;
  std::vector<WorkPiece> pieces;
  for (std::size_t m = 0; m < evaluation.models.size(); ++m) {
    for (const std::string& word : manifest.frameworks) {
      auto model = std::make_shared<EvaluatedModel>(evaluation, m, word, options.interrupt);
      const std::string who = model->manifest().reference() + " " + word;
      const CommandLine line =
          CommandLine("eval run").word(manifest.models[m]).option("--framework", word);
      if (manifest.accuracy) {
        WorkPiece piece;
        piece.record = model->record();
        piece.record.metric = "top1";
        piece.record.command = CommandLine(line).append(options.command_options).text();
        piece.name = who + " accuracy";
        piece.samples = evaluation.datasets[m].manifest.samples.empty()
                            ? 1
                            : std::int64_t(evaluation.datasets[m].manifest.samples.size());
        const std::int64_t batch = manifest.batches.front();
        piece.run = [=, &options, record = piece.record, name = piece.name,
                     &manifest](const std::function<void()>& sampled) {
          auto run = detail::run_accuracy(*model, batch, options.interrupt, sampled);
          for (Measurement& one : run.records) one.command = record.command;
          if (options.sink) options.sink->answers(manifest.reference(), name, run.answers);
          return run.records;
        };
        pieces.push_back(std::move(piece));
      }
      for (const EntryChoice& scenario : manifest.scenarios) {
        for (const std::int64_t batch : manifest.batches) {
          for (const std::string& level : manifest.trace_levels) {
            for (std::int64_t i = 0; i < manifest.repetitions; ++i) {
              const Cell cell{scenario, batch, i, level};
              WorkPiece piece;
              piece.record = model->record();
              piece.record.metric = "latency";
              piece.record.unit = "s";
              piece.record.quantity = Quantity::time;
              piece.record.conditions["scenario"] = to_words(scenario);
              piece.record.conditions["batch"] = std::to_string(batch);
              if (level != "none") piece.record.conditions["trace level"] = level;
              if (manifest.repetitions > 1) {
                piece.record.conditions["repetition"] = std::to_string(i + 1);
              }
              piece.record.command = CommandLine(line)
                                         .option("--scenario", to_words(scenario))
                                         .option("--batch", batch)
                                         .append(options.command_options)
                                         .text();
              piece.name = fmt::format("{} {} batch {}", who, to_words(scenario), batch);
              if (manifest.trace_levels.size() > 1) piece.name += " trace " + level;
              if (manifest.repetitions > 1) piece.name += fmt::format(" repetition {}", i + 1);
              piece.run = [=, &options, &manifest, record = piece.record,
                           name = piece.name](const std::function<void()>& sampled) {
                auto records = run_cell(*model, manifest, cell, record, options, name);
                sampled();
                return records;
              };
              pieces.push_back(std::move(piece));
            }
          }
        }
      }
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
