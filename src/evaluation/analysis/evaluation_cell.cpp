// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/analysis/evaluation_cell.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace d5 {
namespace {

/// Whether a record belongs to all cells of a model in a framework.
struct OfModel {
  const Measurement* accuracy = nullptr;
  const Measurement* cold_start = nullptr;
  const Measurement* first_predict = nullptr;
};

void note(const Measurement& record, OfModel& model) {
  const auto keep = [&](const Measurement*& place) {
    if (!place) place = &record;
  };
  if (record.quantity == Quantity::accuracy) keep(model.accuracy);
  if (record.metric == "cold_start") keep(model.cold_start);
  if (record.metric == "first_predict") keep(model.first_predict);
}

int badness(Status status) {
  constexpr std::array kOrder = {Status::passed, Status::mistrusted, Status::skipped,
                                 Status::unsupported, Status::failed};
  return int(std::ranges::find(kOrder, status) - kOrder.begin());
}

const Measurement* worst_of(const EvaluationCell& cell) {
  const auto worst = std::ranges::max_element(
      cell.records, {}, [](const Measurement* record) { return badness(record->status); });
  return worst == cell.records.end() ? nullptr : *worst;
}

}  // namespace

const Measurement* EvaluationCell::find(std::string_view metric) const {
  for (const Measurement* record : records) {
    if (record->metric == metric && !record->samples.empty()) return record;
  }
  return nullptr;
}

std::vector<double> EvaluationCell::samples_of(std::string_view metric) const {
  std::vector<double> samples;
  const Measurement* first = find(metric);
  if (!first) return samples;
  for (const Measurement* record : records) {
    // Each percentile's record has all samples of its run.
    if (record->metric != metric || record->statistic != first->statistic) continue;
    samples.insert(samples.end(), record->samples.begin(), record->samples.end());
  }
  return samples;
}

std::optional<Estimate> EvaluationCell::pooled(std::string_view metric,
                                               const Statistic& statistic) const {
  const std::vector<double> samples = samples_of(metric);
  if (samples.empty()) return std::nullopt;
  return estimate(samples, statistic);
}

std::optional<Estimate> EvaluationCell::latency(double quantile) const {
  return pooled("latency", {.of = Statistic::Of::quantile, .quantile = quantile});
}

std::optional<Estimate> EvaluationCell::throughput() const { return of_repetitions("throughput"); }

std::optional<Estimate> EvaluationCell::of_repetitions(std::string_view metric) const {
  const std::vector<double> samples = samples_of(metric);
  const Measurement* first = find(metric);
  if (!first || first->samples.size() == samples.size()) return estimate_of(first);
  return estimate(samples);
}

std::optional<Estimate> EvaluationCell::estimate_of(const Measurement* record) {
  if (!record || record->samples.empty()) return std::nullopt;
  return estimate(*record);
}

Status EvaluationCell::status() const {
  const Measurement* worst = worst_of(*this);
  return worst ? worst->status : Status::skipped;
}

std::string EvaluationCell::reason() const {
  const Measurement* worst = worst_of(*this);
  return worst ? worst->reason : "nothing was measured";
}

std::vector<EvaluationCell> evaluation_cells(std::span<const AnalysedRun> runs) {
  std::vector<EvaluationCell> cells;
  for (const AnalysedRun& run : runs) {
    std::map<std::array<std::string, 3>, OfModel> models;
    const std::size_t first = cells.size();
    for (const Measurement& record : run.results.measurements) {
      if (record.level != "evaluation") continue;
      note(record, models[{record.subject, record.framework, record.device}]);
      const std::string scenario = condition_of(record, "scenario");
      if (scenario.empty()) continue;
      EvaluationCell cell{.run = run.name,
                          .subject = record.subject,
                          .framework = record.framework,
                          .device = record.device,
                          .scenario = scenario,
                          .batch = condition_of(record, "batch"),
                          .threads = condition_of(record, "threads"),
                          .trace_level = condition_of(record, "trace level"),
                          .records = {}};
      const auto same = [&](const EvaluationCell& other) {
        const auto what = [](const EvaluationCell& c) {
          return std::tie(c.subject, c.framework, c.device, c.scenario, c.batch, c.threads,
                          c.trace_level);
        };
        return what(other) == what(cell);
      };
      auto place = std::find_if(cells.begin() + std::ptrdiff_t(first), cells.end(), same);
      if (place == cells.end()) place = cells.insert(place, std::move(cell));
      place->records.push_back(&record);
    }
    for (std::size_t i = first; i < cells.size(); ++i) {
      const OfModel& model = models[{cells[i].subject, cells[i].framework, cells[i].device}];
      cells[i].accuracy = model.accuracy;
      cells[i].cold_start = model.cold_start;
      cells[i].first_predict = model.first_predict;
    }
  }
  return cells;
}

std::vector<std::string> names_of(std::span<const EvaluationCell> cells) {
  using Member = std::string EvaluationCell::*;
  constexpr std::array<std::pair<const char*, Member>, 8> kParts = {
      {{"", &EvaluationCell::subject},
       {"", &EvaluationCell::framework},
       {"", &EvaluationCell::device},
       {"", &EvaluationCell::scenario},
       {"batch ", &EvaluationCell::batch},
       {"threads ", &EvaluationCell::threads},
       {"trace ", &EvaluationCell::trace_level},
       {"in ", &EvaluationCell::run}}};
  std::vector<std::string> names(cells.size());
  for (const auto& [before, member] : kParts) {
    std::set<std::string> values;
    for (const auto& cell : cells) values.insert(cell.*member);
    if (values.size() < 2 && member != &EvaluationCell::framework) continue;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string& value = cells[i].*member;
      if (!value.empty()) names[i] += (names[i].empty() ? "" : " ") + (before + value);
    }
  }
  return names;
}

}  // namespace d5
