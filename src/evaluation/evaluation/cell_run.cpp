// SPDX-License-Identifier: Apache-2.0
#include "evaluation/evaluation/cell_run.hpp"

#include <fmt/format.h>

#include "d5/core/results.hpp"
#include "d5/core/trace.hpp"
#include "d5/evaluation/scenario.hpp"
#include "evaluation/evaluation/pipeline_system.hpp"

namespace d5::detail {
namespace {

/// `record` with one time.
Measurement time_record(const Measurement& record, const char* metric, double seconds) {
  Measurement time = record;
  time.metric = metric;
  time.unit = "s";
  time.quantity = Quantity::time;
  time.statistic = {.of = Statistic::Of::single};
  time.samples = {seconds};
  return time;
}

void add_cold_start(EvaluatedModel& model, const Measurement& record,
                    std::vector<Measurement>& records) {
  if (const auto cold = model.take_cold_start()) {
    records.push_back(time_record(record, "cold_start", cold->open_seconds));
    records.push_back(time_record(record, "first_predict", cold->first_seconds));
  }
}

/// Leaves what is not of `level` out of a timeline.
void keep_level(Timeline& timeline, const std::string& level) {
  std::erase_if(timeline.records, [&](const auto& record) { return record.level != level; });
}

}  // namespace

void add_step_records(const Measurement& record, const PipelineReport& report,
                      std::vector<Measurement>& records) {
  for (const StageReport& stage : report.stages) {
    Measurement one =
        time_record(record, "step_time", stage.items > 0 ? stage.busy / double(stage.items) : 0);
    one.conditions["step"] = stage.name;
    one.conditions["step threads"] = std::to_string(stage.threads);
    one.conditions["queue"] = fmt::format("{:.2g}, {} at most", stage.mean_depth, stage.deepest);
    one.conditions["waited for input"] = with_prefix(stage.waited_for_input, "s");
    one.conditions["waited for room"] = with_prefix(stage.waited_for_room, "s");
    records.push_back(std::move(one));
  }
}

std::vector<Measurement> run_cell(EvaluatedModel& model, const EvaluationManifest& manifest,
                                  const Cell& cell, Measurement record,
                                  const EvaluateOptions& options, const std::string& piece) {
  Predictor& predictor = model.predictor(cell.batch);
  record.framework_version = predictor_version(model.word());
  PipelineSystem system(model.pipeline(), predictor, cell.batch);
  const bool traces = cell.trace_level != "none" && !Trace::on();
  if (traces) Trace::start();
  auto scenario = scenarios().at(cell.scenario.name).make(cell.scenario.settings);
  const ScenarioResult run =
      scenario->run(system, {.least_seconds = manifest.seconds,
                             .least_queries = manifest.queries,
                             .seed = std::uint64_t(manifest.seed + cell.repetition),
                             .interrupt = options.interrupt});
  if (traces) {
    Trace::stop();
    Timeline timeline = Trace::timeline();
    if (cell.trace_level == "model") keep_level(timeline, "evaluation");
    if (options.sink) options.sink->trace(options.run, piece, timeline);
  }
  std::vector<Measurement> records;
  add_cold_start(model, record, records);
  for (const Measurement& measured : run.measurements) {
    Measurement one = measured_of(record, measured);
    one.command = record.command;
    for (const auto& [name, text] : run.conditions) one.conditions.try_emplace(name, text);
    if (one.status == Status::passed && run.status != Status::passed) {
      one.status = run.status;
      one.reason = run.reason;
    }
    if (!model.fault.empty()) mistrust(one, "its answers are not right: " + model.fault);
    records.push_back(std::move(one));
  }
  if (options.sink) options.sink->queries(options.run, piece, run.queries);
  return records;
}

}  // namespace d5::detail
