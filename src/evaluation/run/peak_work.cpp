// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/run/peak_work.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <memory>
#include <utility>

#include "d5/core/entries/entry_words.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/measuring/command_line.hpp"
#include "d5/core/results/results.hpp"
#include "d5/evaluation/analysis/evaluation_choice.hpp"
#include "d5/evaluation/load/query_summary.hpp"
#include "evaluation/run/asked_line.hpp"
#include "evaluation/run/cell_run.hpp"

namespace d5 {
namespace {

using detail::EvaluatedModel;

std::string words_of(const LatencyObjective& objective) {
  return fmt::format("p{:g} <= {}", 100 * objective.percentile,
                     with_prefix(objective.seconds, "s"));
}

/// The words that `objective_of_words` reads to the same numbers.
std::string exact_words_of(const LatencyObjective& objective) {
  return fmt::format("p{:.15g}<={}s", 100 * objective.percentile, objective.seconds);
}

const char* word_for(PeakStep::Verdict verdict) {
  if (verdict == PeakStep::Verdict::holds) return "holds";
  return verdict == PeakStep::Verdict::misses ? "misses" : "undecided";
}

/// The record of one rate that was tried.
Measurement step_record(const Measurement& record, const PeakStep& step,
                        std::vector<double> latencies, double percentile) {
  Measurement one = record;
  one.metric = "latency_at_rate";
  one.unit = "s";
  one.quantity = Quantity::time;
  one.statistic = {.of = Statistic::Of::quantile, .quantile = percentile};
  one.samples = std::move(latencies);
  one.conditions["rate"] = identity(step.rate, "query/s");
  one.conditions["verdict"] = finding(word_for(step.verdict));
  if (!step.reason.empty()) one.conditions["because"] = finding(step.reason);
  if (!step.doubt.empty()) mistrust(one, step.doubt);
  return one;
}

Measurement peak_record(const Measurement& record, const Peak& peak) {
  Measurement one = record;
  one.metric = "peak_rate";
  one.unit = "query/s";
  one.quantity = Quantity::rate;
  one.statistic = {.of = Statistic::Of::single};
  one.samples = {peak.rate};
  one.conditions["missed at"] =
      finding(std::isinf(peak.missed) ? "none" : with_prefix(peak.missed, "query/s"));
  for (const std::string& doubt : doubts_of(peak)) mistrust(one, doubt);
  if (!peak.cut.empty()) {
    if (peak.rate > 0) {
      mistrust(one, peak.cut + ": the highest rate that held so far");
    } else {
      one.samples.clear();
      one.status = Status::skipped;
      one.reason = peak.cut + ": no rate has held so far";
    }
    return one;
  }
  if (peak.rate > 0) return one;
  one.status = Status::failed;
  one.reason = fmt::format("no rate holds, the lowest that was tried is {}",
                           with_prefix(peak.missed, "query/s"));
  return one;
}

std::vector<Measurement> search(EvaluatedModel& model, const EvaluationManifest& manifest,
                                std::int64_t batch, Measurement record,
                                const PeakWorkOptions& options) {
  const auto scenario_at = [&](double rate) {
    Settings settings = options.scenario.settings;
    settings.set("rate", rate);
    return scenarios().at(options.scenario.name).make(settings);
  };
  const auto system =
      detail::system_of(model, manifest, batch, *scenario_at(options.search.first_rate));
  record.framework_version = predictor_version(model.word());
  std::vector<std::vector<double>> latencies;
  const Peak peak = find_peak(
      [&](double rate, const ScenarioOptions& run) {
        ScenarioResult result = scenario_at(rate)->run(*system, run);
        latencies.push_back(query_latencies(result));
        return result;
      },
      options.search);
  std::vector<Measurement> records{peak_record(record, peak)};
  const double percentile =
      options.search.run.percentile > 0 ? options.search.run.percentile : 0.99;
  for (std::size_t i = 0; i < peak.steps.size(); ++i) {
    records.push_back(step_record(record, peak.steps[i], std::move(latencies[i]), percentile));
  }
  return records;
}

/// The search's options with what the evaluation says of each run.
PeakOptions search_of(const EvaluationManifest& manifest, PeakOptions search) {
  if (manifest.seconds > 0) search.run.least_seconds = manifest.seconds;
  if (manifest.queries > 0) search.run.least_queries = manifest.queries;
  if (manifest.seed > 0) search.run.seed = std::uint64_t(manifest.seed);
  return search;
}

/// `options` whose search says what it does by the name of the piece.
PeakWorkOptions heard_as(const std::string& piece, PeakWorkOptions options) {
  if (options.on_asked) {
    options.search.on_asked = [piece, hear = options.on_asked](const PeakAsked& asked) {
      hear(piece, asked);
    };
  }
  if (options.on_step) {
    options.search.on_step = [piece, hear = options.on_step](const PeakStep& step) {
      hear(piece, step);
    };
  }
  return options;
}

WorkPiece piece_of(const FixedEvaluation& evaluation, std::size_t m,
                   const FixedFramework& framework, std::int64_t batch,
                   const PeakWorkOptions& options) {
  const auto& run = options.search.run;
  const auto model = std::make_shared<EvaluatedModel>(evaluation, m, framework, run.interrupt);
  const std::string scenario = to_words(options.scenario);
  const LatencyObjective objective{.percentile = run.percentile, .seconds = run.latency_seconds};
  WorkPiece piece;
  piece.record = model->record();
  piece.record.metric = "peak_rate";
  piece.record.unit = "query/s";
  piece.record.quantity = Quantity::rate;
  piece.record.conditions["scenario"] = identity(scenario);
  piece.record.conditions["batch"] = identity(batch);
  piece.record.conditions["objective"] = identity(words_of(objective));
  piece.record.conditions["threads"] = identity(detail::instance_threads(evaluation.manifest));
  piece.name = fmt::format("{} {} {} batch {}", model->manifest().reference(), framework.word,
                           scenario, batch);
  EvaluationManifest asked = detail::asked_of(evaluation.manifest, m, framework.word);
  asked.scenarios = {options.scenario};
  asked.batches = {batch};
  piece.record.command = detail::asked_line("eval find-peak", asked)
                             .option("--slo", exact_words_of(objective))
                             .options(options.search)
                             .append(options.command_options)
                             .text();
  detail::add_serving(evaluation.manifest, piece);
  piece.run = [&manifest = evaluation.manifest, model, batch,
               options = heard_as(piece.name, options),
               record = piece.record](const std::function<void()>& sampled) {
    auto records = search(*model, manifest, batch, record, options);
    sampled();
    return records;
  };
  return piece;
}

}  // namespace

LatencyObjective objective_of_words(const std::string& words) {
  const auto sign = words.find_first_of("<>");
  double percent = 0;
  std::string name = words.substr(0, sign);
  while (name.ends_with(' ')) name.pop_back();
  const char* const end = name.data() + name.size();
  const bool is_percentile = name.size() > 1 && name.front() == 'p' &&
                             std::from_chars(name.data() + 1, end, percent).ptr == end &&
                             percent > 0 && percent < 100;
  const Requirement required = is_percentile && sign != std::string::npos
                                   ? requirement_of("p99", words.substr(sign))
                                   : Requirement{.number = "", .at_least = true};
  if (required.at_least || !(required.limit > 0)) {
    throw ValueError(
        fmt::format("objective '{}': expected a percentile and a latency bound, as \"p99<=50ms\"",
                    printable(words)));
  }
  return {.percentile = percent / 100, .seconds = required.limit};
}

std::vector<WorkPiece> peak_work(const FixedEvaluation& evaluation, PeakWorkOptions options) {
  const EvaluationManifest& manifest = evaluation.manifest;
  if (manifest.ttft_limit > 0 || manifest.tpot_limit > 0 || manifest.latency_limit > 0) {
    throw ValueError(
        "find-peak: limits of a good answer (ttft_limit, tpot_limit, latency_limit) are given, "
        "expected the objective alone; 'd5 eval run' measures attainment and goodput within them");
  }
  options.search = search_of(manifest, options.search);
  std::vector<WorkPiece> pieces;
  for (std::size_t m = 0; m < evaluation.models.size(); ++m) {
    for (const FixedFramework& framework : evaluation.frameworks) {
      for (const std::int64_t batch : manifest.batches) {
        pieces.push_back(piece_of(evaluation, m, framework, batch, options));
      }
    }
  }
  return pieces;
}

PeakBound peak_bound(const FixedEvaluation& evaluation, const PeakWorkOptions& options) {
  return peak_bound(search_of(evaluation.manifest, options.search));
}

}  // namespace d5
