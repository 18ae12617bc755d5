// SPDX-License-Identifier: Apache-2.0
#include "evaluation/run/cell_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "d5/core/machine/threads.hpp"
#include "d5/core/results/results.hpp"
#include "d5/core/trace/trace.hpp"
#include "d5/evaluation/load/scenario.hpp"
#include "evaluation/load/system_counters.hpp"
#include "evaluation/run/generator_judgement.hpp"
#include "evaluation/run/library_lines.hpp"
#include "evaluation/run/pipeline_server.hpp"
#include "evaluation/run/pipeline_system.hpp"
#include "evaluation/run/watched_run.hpp"
#include "evaluation/scenario/paired_system.hpp"

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
    if (cold->first_seconds <= 0) return;  // its first call is a query
    records.push_back(time_record(record, "first_predict", cold->first_seconds));
  }
}

/// Cost of a million predictions at the measured throughput: money if a price per hour is known,
/// else machine time.
Measurement cost_record(const Measurement& record, const Measurement& throughput) {
  constexpr double kMillion = 1e6;
  constexpr double kSecondsInHour = 3600;
  const double seconds = kMillion / estimate(throughput).value;
  Measurement cost = time_record(record, "machine_time", seconds);
  cost.conditions["of"] = finding("a million predictions");
  const auto price = condition_number(record, "price_per_hour");
  if (!price) return cost;
  cost.metric = "cost";
  cost.unit = condition_of(record, "currency");
  cost.quantity = Quantity::other;
  cost.samples = {*price * seconds / kSecondsInHour};
  return cost;
}

/// Judges the answers of both sides of a run. Returns why they are not right, or not judged.
std::string judge_run(EvaluatedModel& model, EvaluatedModel* base,
                      const EvaluationManifest& manifest, const Cell& cell,
                      const Measurement& record, std::vector<Measurement>& records) {
  const auto seed = std::uint64_t(manifest.seed + cell.repetition);
  std::string fault = add_regret(model, manifest, seed, record, records);
  if (!base) return fault;
  Measurement of_base = record;
  of_base.framework = base->word();
  of_base.framework_version = predictor_version(base->word());
  const std::string its = add_regret(*base, manifest, seed, of_base, records);
  return fault.empty() && !its.empty() ? base->word() + ": " + its : fault;
}

/// Records a trace level while a scenario runs.
class LevelTrace {
 public:
  /// Records nothing if a trace of the whole process is on. Throws: IoError.
  explicit LevelTrace(const std::string& level) : level_(Trace::on() ? "none" : level) {
    if (level_ == "none") return;
    if (is_of_libraries(level_)) lines_.emplace();
    if (level_ == "system") counters_.emplace();
  }
  ~LevelTrace() {
    if (records_) (void)end();  // the run threw
  }
  LevelTrace(const LevelTrace&) = delete;
  LevelTrace& operator=(const LevelTrace&) = delete;

  /// Call when everything is open and warm.
  void begin() {
    records_ = level_ != "none";
    if (!records_) return;
    Trace::start({.only_level = level_ == "model" ? "evaluation" : ""});
  }
  /// Returns the recording, once.
  [[nodiscard]] std::optional<Timeline> end() {
    if (!records_) return std::nullopt;
    records_ = false;
    Trace::stop();
    counters_.reset();
    Timeline timeline = Trace::timeline();
    if (lines_) lines_->add_to(timeline);
    lines_.reset();
    return timeline;
  }

 private:
  std::string level_;
  bool records_ = false;
  std::optional<LibraryLines> lines_;
  std::optional<SystemCounters> counters_;
};

}  // namespace

std::shared_ptr<Scenario> scenario_of(const Cell& cell) {
  const ScenarioEntry& entry = scenarios().at(cell.scenario.name);
  Settings settings = cell.scenario.settings;
  entry.offer(settings, "batch", cell.batch);
  return entry.make(settings);
}

bool is_paired(const Scenario& scenario) {
  return dynamic_cast<const PairedScenario*>(&scenario) != nullptr;
}

bool is_of_libraries(const std::string& trace_level) {
  return trace_level == "library" || trace_level == "system";
}

int instance_threads(const EvaluationManifest& manifest) {
  const auto all = manifest.threads > 0 ? int(manifest.threads) : threads();
  return std::max(1, all / static_cast<int>(manifest.instances));
}

std::unique_ptr<SystemUnderTest> system_of(EvaluatedModel& model,
                                           const EvaluationManifest& manifest, std::int64_t batch,
                                           const Scenario& scenario) {
  if (!model.manifest().has_network()) return model.text_system(batch);
  if (!scenario.overlaps() && manifest.instances == 1) {
    return std::make_unique<PipelineSystem>(model.pipeline(), model.predictor(batch), batch);
  }
  const auto instances = static_cast<int>(manifest.instances);
  if (instances > 1) model.close();  // the threads and memory belong to other instances
  return std::make_unique<PipelineServer>(
      model.pipeline(), model.word(),
      [&model, instances, batch](int) {
        return instances > 1 ? model.open_beside(batch) : model.predictor(batch);
      },
      PipelineServer::Options{.served = {.instances = instances,
                                         .largest_batch = batch,
                                         .longest_wait = manifest.longest_wait},
                              .instance_threads = instance_threads(manifest),
                              .stage_threads = static_cast<int>(manifest.stage_threads)});
}

void add_step_records(const Measurement& record, const PipelineReport& report,
                      std::vector<Measurement>& records) {
  for (const StageReport& stage : report.stages) {
    Measurement one =
        time_record(record, "step_time", stage.items > 0 ? stage.busy / double(stage.items) : 0);
    one.conditions["step"] = identity(stage.name);
    one.conditions["step threads"] = finding(stage.threads);
    one.conditions["queue"] =
        finding(fmt::format("{:.2g}, {} at most", stage.mean_depth, stage.deepest));
    one.conditions["waited for input"] = finding(stage.waited_for_input, "s");
    one.conditions["waited for room"] = finding(stage.waited_for_room, "s");
    records.push_back(std::move(one));
  }
  Measurement overlap = time_record(record, "pipeline_overlap", report.overlap());
  overlap.unit = "1";
  overlap.quantity = Quantity::share;
  records.push_back(std::move(overlap));
}

Scenario::Length length_of(const Scenario& scenario, const EvaluationManifest& manifest) {
  if (manifest.queries == 0 && manifest.seconds == 0) return scenario.usual_length();
  return {.queries = std::max<std::int64_t>(manifest.queries, 1), .seconds = manifest.seconds};
}

std::vector<Measurement> run_cell(EvaluatedModel& model, EvaluatedModel* base,
                                  const EvaluationManifest& manifest, const Cell& cell,
                                  Measurement record, const EvaluateOptions& options,
                                  const std::string& piece) {
  const auto scenario = scenario_of(cell);
  WatchedRun watched({model.word(), base ? base->word() : model.word()});
  LevelTrace trace(cell.trace_level);
  const auto own = system_of(model, manifest, cell.batch, *scenario);
  const auto bases = base ? system_of(*base, manifest, cell.batch, *scenario) : nullptr;
  std::optional<PairedSystem> pair;
  if (base)
    pair.emplace(PairedSystem::Side{*bases, base->word()}, PairedSystem::Side{*own, model.word()});
  SystemUnderTest& system = pair ? *pair : *own;
  record.framework_version = predictor_version(model.word());
  record.conditions["threads"] = identity(instance_threads(manifest));
  trace.begin();
  const Scenario::Length length = length_of(*scenario, manifest);
  const ScenarioResult run =
      scenario->run(system, {.least_seconds = length.seconds,
                             .least_queries = length.queries,
                             .seed = std::uint64_t(manifest.seed + cell.repetition),
                             .limits = {.ttft = manifest.ttft_limit,
                                        .tpot = manifest.tpot_limit,
                                        .latency = manifest.latency_limit},
                             .interrupt = options.interrupt});
  const std::vector<std::string> disturbances = watched.end();
  const auto timeline = trace.end();
  if (timeline && options.sink) options.sink->trace(options.run, piece, *timeline);
  std::vector<Measurement> records;
  add_cold_start(model, record, records);
  const std::string fault = judge_run(model, base, manifest, cell, record, records);
  for (const Measurement& measured : run.measurements) {
    Measurement one = measured_of(record, measured);
    one.command = record.command;
    for (const auto& [name, text] : run.conditions) one.conditions.try_emplace(name, text);
    if (run.status == Status::mistrusted) {
      if (one.reason.find(run.reason) == std::string::npos) mistrust(one, run.reason);
    } else if (run.status != Status::passed && one.status != run.status) {
      one.status = run.status;
      one.reason = run.reason;
    }
    if (!model.fault.empty()) mistrust(one, "its answers are not right: " + model.fault);
    if (!fault.empty()) mistrust(one, fault);
    records.push_back(std::move(one));
  }
  const auto rate = std::ranges::find(records, "throughput", &Measurement::metric);
  if (rate != records.end() && !rate->samples.empty() && estimate(*rate).value > 0) {
    Measurement cost = cost_record(record, *rate);
    cost.status = rate->status;
    cost.reason = rate->reason;
    records.push_back(std::move(cost));
  }
  mistrust_times(records, disturbances);
  if (options.sink && !base) options.sink->queries(options.run, piece, run.queries);
  return records;
}

}  // namespace d5::detail
