// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/validation/training_report.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "core/report/row_names.hpp"
#include "d5/level2_training/training/trajectory.hpp"

namespace d5 {
namespace {

using detail::RowWords;

/// One run: its records, its distinguishing words, and its seed.
struct Run {
  RowWords words;
  std::uint64_t seed = 0;
  std::vector<Measurement> records;
};

/// Whether the record is of a single run, not of several joined.
bool is_of_a_run(const Measurement& record) {
  return record.conditions.contains("dataset") && record.conditions.contains("seed") &&
         !record.conditions.contains("runs");
}

/// The record that represents a run: that of the loss, because other metrics add their own
/// conditions.
const Measurement& spokesman(const std::vector<Measurement>& records) {
  const auto loss = std::ranges::find(records, "loss", &Measurement::metric);
  return loss == records.end() ? records.front() : *loss;
}

void describe(Run& run, const std::string& source) {
  const Measurement& record = spokesman(run.records);
  run.words = {{"subject", record.subject}, {"framework", record.framework}};
  for (const auto& [name, condition] : record.conditions) {
    if (condition.role == Role::identity) run.words.push_back({name, condition.text()});
  }
  run.words.push_back({"device", record.device});
  run.words.push_back({"file", source});
  run.seed = std::uint64_t(condition_number(record, "seed").value_or(0));
}

std::vector<Run> runs_in(const std::vector<Report::Source>& sources) {
  std::vector<Run> runs;
  for (const auto& source : sources) {
    std::map<std::string, std::size_t> places;  // the records of a run have one command
    for (const Measurement& record : source.results.measurements) {
      if (!is_of_a_run(record)) continue;
      const auto [place, is_new] = places.try_emplace(record.command, runs.size());
      if (is_new) runs.emplace_back();
      runs[place->second].records.push_back(record);
    }
    for (const auto& [command, run] : places) describe(runs[run], source.name);
  }
  return runs;
}

/// The parameter differences of one optimizer and its judge.
struct Apart {
  std::string title;
  Divergence closed, open;
  bool of_parameters = false;
};

void add(Apart& apart, const Measurement& record) {
  const std::string parameter = condition_of(record, "parameter");
  if (!parameter.empty()) {
    if (record.metric != "parameter_difference_l2") return;
    if (!apart.of_parameters) apart.closed = apart.open = {};
    apart.of_parameters = true;
    auto& loop = condition_of(record, "loop") == "open" ? apart.open : apart.closed;
    loop.parameters.push_back({.name = parameter, .l2 = record.samples});
  } else if (!apart.of_parameters) {
    auto& loop = record.metric == "rule_difference" ? apart.open : apart.closed;
    loop.parameters.push_back({.name = record.subject, .l2 = record.samples});
  }
}

bool is_positive_anywhere(const Divergence& apart) {
  return std::ranges::any_of(apart.parameters, [](const auto& parameter) {
    return std::ranges::any_of(parameter.l2, [](double value) { return value > 0; });
  });
}

std::vector<Plot> divergence_plots(const std::vector<Report::Source>& sources) {
  std::map<std::tuple<std::string, std::string, std::string>, Apart> all;
  for (const auto& source : sources) {
    for (const Measurement& record : source.results.measurements) {
      const bool tells = record.metric == "trajectory_difference" ||
                         record.metric == "rule_difference" ||
                         record.metric == "parameter_difference_l2";
      if (!tells || record.samples.size() < 2) continue;
      Apart& apart = all[{record.subject, source.name, record.command}];
      apart.title = record.subject;
      if (const std::string judge = condition_of(record, "against"); !judge.empty()) {
        apart.title += " against " + judge;
      }
      add(apart, record);
    }
  }
  std::vector<Plot> plots;
  for (const auto& [key, apart] : all) {
    if (!is_positive_anywhere(apart.closed) && !is_positive_anywhere(apart.open)) continue;
    Plot plot = divergence_plot(apart.title, apart.closed, apart.open);
    if (!apart.of_parameters) plot.y.label = "largest relative difference of a parameter";
    if (all.size() > 1) plot.name += "-" + std::to_string(plots.size() + 1);
    plots.push_back(std::move(plot));
  }
  return plots;
}

/// Kinds of records of repeated trainings, in the order of their tables.
enum class Part { run, joined, comparison, other };

Part part_of(const Measurement& record) {
  if (is_of_a_run(record)) return Part::run;
  if (!record.conditions.contains("runs")) return Part::other;
  return record.conditions.contains("base") ? Part::comparison : Part::joined;
}

/// Names of the identities that all records of a part have: others, such as the rank or the target
/// of a metric, tell no trainings apart.
std::map<Part, std::set<std::string>> shared_identities(const std::vector<Measurement>& records) {
  std::map<Part, std::set<std::string>> shared;
  for (const Measurement& record : records) {
    std::set<std::string> names;
    for (const auto& [name, condition] : record.conditions) {
      if (condition.role == Role::identity) names.insert(name);
    }
    const auto [place, is_new] = shared.try_emplace(part_of(record), names);
    std::erase_if(place->second, [&](const auto& name) { return !names.contains(name); });
  }
  return shared;
}

/// The training of a record, by these identities.
std::string training_of(const Measurement& record, const std::set<std::string>& identities) {
  std::string words = record.subject + '\n' + record.framework + '\n' + record.device;
  for (const std::string& name : identities) words += '\n' + condition_of(record, name);
  return words;
}

}  // namespace

std::vector<std::vector<Measurement>> repeated_training_groups(
    const std::vector<Measurement>& records) {
  const auto identities = shared_identities(records);
  std::map<std::pair<Part, std::string>, std::size_t> places;
  std::vector<std::pair<Part, std::vector<Measurement>>> groups;
  for (const Measurement& record : records) {
    const Part part = part_of(record);
    const bool of_one = part == Part::run || part == Part::joined;
    const auto [place, is_new] = places.try_emplace(
        {part, of_one ? training_of(record, identities.at(part)) : ""}, groups.size());
    if (is_new) groups.push_back({part, {}});
    groups[place->second].second.push_back(record);
  }
  const auto is_joined = [](const auto& group) { return group.first == Part::joined; };
  if (std::ranges::none_of(groups, is_joined)) return {};
  std::ranges::stable_sort(groups, {}, [](const auto& group) { return group.first; });
  std::vector<std::vector<Measurement>> result;
  for (auto& [part, group] : groups) result.push_back(std::move(group));
  return result;
}

std::vector<ComparedTraining> trainings_in(const std::vector<Report::Source>& sources) {
  std::vector<RowWords> rows;
  std::vector<ComparedTraining> trainings;
  for (Run& run : runs_in(sources)) {
    const auto same = std::ranges::find_if(rows, [&](const RowWords& row) {
      return detail::full_name(row) == detail::full_name(run.words);
    });
    const auto place = std::size_t(same - rows.begin());
    if (same == rows.end()) {
      rows.push_back(run.words);
      trainings.emplace_back();
    }
    trainings[place].runs.seeds.push_back(run.seed);
    trainings[place].runs.records.push_back(std::move(run.records));
  }
  const auto names = detail::short_names(rows).names;
  for (std::size_t i = 0; i < names.size(); ++i) trainings[i].name = names[i];
  return trainings;
}

std::vector<Plot> training_plots(const std::vector<Report::Source>& sources) {
  const auto trainings = trainings_in(sources);
  std::size_t runs = 0;
  for (const auto& training : trainings) runs += training.runs.records.size();
  std::vector<Plot> plots;
  if (runs > 1) plots.push_back(accuracy_plot(trainings));  // a single run already has this curve
  plots.push_back(loss_plot(trainings));
  std::erase_if(plots, [](const Plot& plot) { return plot.marks.empty(); });
  std::ranges::move(divergence_plots(sources), std::back_inserter(plots));
  return plots;
}

}  // namespace d5
