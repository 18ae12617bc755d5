// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/run/peak_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "core/results/record_estimate.hpp"
#include "d5/core/entries/entry_words.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/measuring/command_line.hpp"
#include "d5/core/results/results.hpp"
#include "d5/evaluation/analysis/evaluation_choice.hpp"
#include "evaluation/run/asked_line.hpp"
#include "evaluation/run/cell_run.hpp"
#include "evaluation/run/generator_judgement.hpp"
#include "evaluation/run/watched_run.hpp"

namespace d5 {
namespace {

using detail::EvaluatedModel;

using Of = PeakObjective::Of;

/// "ttft."; latency's percentiles have no name before them.
std::string prefix_of(const PeakObjective& objective) {
  return objective.of == Of::latency ? "" : fmt::format("{}.", name_of(objective.of));
}

/// "p99 <= 50 ms", "ttft.p99 <= 50 ms", "attainment >= 0.99".
std::string words_of(const PeakObjective& objective) {
  if (objective.of == Of::attainment) return fmt::format("attainment >= {:g}", objective.limit);
  return fmt::format("{}p{:g} <= {}", prefix_of(objective), 100 * objective.percentile,
                     with_prefix(objective.limit, "s"));
}

/// The words that `objectives_of_words` reads to the same numbers.
std::string exact_words_of(const PeakObjective& objective) {
  if (objective.of == Of::attainment) return fmt::format("attainment>={}", objective.limit);
  return fmt::format("{}p{:.15g}<={}s", prefix_of(objective), 100 * objective.percentile,
                     objective.limit);
}

std::string joined(const std::vector<PeakObjective>& objectives, const char* between,
                   std::string (*words)(const PeakObjective&)) {
  std::string all;
  for (const PeakObjective& one : objectives) all += (all.empty() ? "" : between) + words(one);
  return all;
}

const char* word_for(PeakStep::Verdict verdict) {
  if (verdict == PeakStep::Verdict::holds) return "holds";
  return verdict == PeakStep::Verdict::misses ? "misses" : "undecided";
}

/// The record of one objective at one rate that was tried.
Measurement step_record(const Measurement& record, const PeakStep& step, const Measurement& number,
                        const PeakObjective& objective) {
  Measurement one = record;
  one.metric = number.metric + "_at_rate";
  one.unit = number.unit;
  one.quantity = number.quantity;
  one.direction = number.direction;
  one.statistic = number.statistic;
  one.samples = number.samples;
  for (const auto& [name, value] : number.conditions) one.conditions[name] = value;
  one.conditions["objective"] = identity(words_of(objective));
  one.conditions["rate"] = identity(step.rate, "query/s");
  one.conditions["queries"] = finding(double(step.queries));
  one.conditions["verdict"] = finding(word_for(step.verdict));
  if (!step.reason.empty()) one.conditions["because"] = finding(step.reason);
  if (!step.doubt.empty()) mistrust(one, step.doubt);
  if (one.samples.empty()) {
    one.status = Status::skipped;
    one.reason = step.reason.empty() ? "no answer has a number of it" : step.reason;
  }
  return one;
}

/// The share of good answers at the peak times its rate; nothing without an attainment.
std::optional<Measurement> goodput_record(const Measurement& peak, const Peak& found) {
  const auto step = std::ranges::find_if(found.steps, [&](const PeakStep& one) {
    return one.rate == found.rate && one.verdict == PeakStep::Verdict::holds;
  });
  if (step == found.steps.end()) return std::nullopt;
  const auto share = std::ranges::find(step->numbers, "attainment", &Measurement::metric);
  if (share == step->numbers.end()) return std::nullopt;
  const Estimate good = estimate(*share);
  Measurement one = peak;
  one.metric = "goodput";
  one.samples = {good.value * found.rate};
  detail::set_interval(one, {good.interval.low * found.rate, good.interval.high * found.rate});
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
  detail::WatchedRun watched({model.word()});
  const Peak peak = find_peak(
      [&](double rate, const ScenarioOptions& run) { return scenario_at(rate)->run(*system, run); },
      options.search);
  const std::vector<std::string> disturbances = watched.end();
  std::vector<Measurement> records{peak_record(record, peak)}, regret;
  const std::string fault =
      detail::add_regret(model, manifest, options.search.run.seed, record, regret);
  if (const auto goodput = goodput_record(records[0], peak)) records.push_back(*goodput);
  for (const PeakStep& step : peak.steps) {
    for (std::size_t i = 0; i < step.numbers.size(); ++i) {
      records.push_back(step_record(record, step, step.numbers[i], options.search.objectives[i]));
    }
  }
  if (!fault.empty()) {
    for (Measurement& one : records) mistrust(one, fault);
  }
  detail::mistrust_times(records, disturbances);
  std::ranges::move(regret, std::back_inserter(records));
  return records;
}

/// The search's options with what the evaluation says of each run.
PeakOptions search_of(const EvaluationManifest& manifest, PeakOptions search) {
  if (manifest.seconds > 0) search.run.least_seconds = manifest.seconds;
  if (manifest.queries > 0) search.run.least_queries = manifest.queries;
  if (manifest.seed > 0) search.run.seed = std::uint64_t(manifest.seed);
  if (manifest.ttft_limit > 0) search.run.limits.ttft = manifest.ttft_limit;
  if (manifest.tpot_limit > 0) search.run.limits.tpot = manifest.tpot_limit;
  if (manifest.latency_limit > 0) search.run.limits.latency = manifest.latency_limit;
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
  WorkPiece piece;
  piece.record = model->record();
  piece.record.metric = "peak_rate";
  piece.record.unit = "query/s";
  piece.record.quantity = Quantity::rate;
  piece.record.conditions["scenario"] = identity(scenario);
  piece.record.conditions["batch"] = identity(batch);
  piece.record.conditions["objective"] =
      identity(joined(options.search.objectives, ", ", words_of));
  piece.record.conditions["threads"] = identity(detail::instance_threads(evaluation.manifest));
  piece.name = fmt::format("{} {} {} batch {}", model->manifest().reference(), framework.word,
                           scenario, batch);
  EvaluationManifest asked = detail::asked_of(evaluation.manifest, m, framework.word);
  asked.scenarios = {options.scenario};
  asked.batches = {batch};
  piece.record.command =
      detail::asked_line("eval find-peak", asked)
          .option("--slo", joined(options.search.objectives, ",", exact_words_of))
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

/// A text without blanks around it.
std::string trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return std::string(text);
}

/// The metric of "ttft.p99", and its percentile; nothing for other words.
std::optional<PeakObjective> limited_by(std::string_view name) {
  if (name == name_of(Of::attainment)) return PeakObjective{.of = Of::attainment};
  PeakObjective objective;
  for (const Of of : {Of::latency, Of::ttft, Of::ttfa, Of::tpot, Of::stall, Of::itl}) {
    const std::string metric = fmt::format("{}.", name_of(of));
    if (!name.starts_with(metric)) continue;
    objective.of = of;
    name.remove_prefix(metric.size());
    break;
  }
  const char* const end = name.data() + name.size();
  double percent = 0;
  const bool is_percentile = name.size() > 1 && name.front() == 'p' &&
                             std::from_chars(name.data() + 1, end, percent).ptr == end &&
                             percent > 0 && percent < 100;
  if (!is_percentile) return std::nullopt;
  objective.percentile = percent / 100;
  return objective;
}

PeakObjective objective_of_words(const std::string& words) {
  const auto sign = std::min(words.find_first_of("<>"), words.size());
  auto objective = limited_by(trimmed(words.substr(0, sign)));
  if (objective && sign < words.size()) {
    const bool is_share = objective->of == Of::attainment;
    const Requirement required =
        requirement_of(is_share ? "accuracy" : "p99", trimmed(words.substr(sign)));
    objective->limit = required.limit;
    if (required.at_least == is_share && required.limit > 0) return *objective;
  }
  throw ValueError(
      fmt::format("objective '{}': expected a percentile and a bound, as \"p99<=50ms\" of the "
                  "latency, \"ttft.p99<=0.5s\" (ttfa, itl, tpot, stall), or \"attainment>=99%\"",
                  printable(words)));
}

}  // namespace

std::vector<PeakObjective> objectives_of_words(const std::string& words) {
  std::vector<PeakObjective> objectives;
  for (std::size_t begin = 0; begin <= words.size();) {
    const std::size_t end = std::min(words.find(',', begin), words.size());
    objectives.push_back(objective_of_words(words.substr(begin, end - begin)));
    begin = end + 1;
  }
  return objectives;
}

std::vector<WorkPiece> peak_work(const FixedEvaluation& evaluation, PeakWorkOptions options) {
  const EvaluationManifest& manifest = evaluation.manifest;
  options.search = search_of(manifest, options.search);
  const bool limits_attainment =
      std::ranges::find(options.search.objectives, Of::attainment, &PeakObjective::of) !=
      options.search.objectives.end();
  if (options.search.run.limits.any() && !limits_attainment) {
    throw ValueError(
        "find-peak: limits of a good answer (ttft_limit, tpot_limit, latency_limit) are given, "
        "expected an objective of their attainment, too, as \"attainment>=99%\"");
  }
  if (options.scenario.settings.has("rate")) {
    throw ValueError(fmt::format(
        "find-peak: scenario '{}' has a rate, expected none: the search chooses rates, and begins "
        "at first_rate",
        printable(to_words(options.scenario))));
  }
  (void)d5::peak_bound(options.search);  // throws for objectives that cannot be
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
