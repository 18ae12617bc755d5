// SPDX-License-Identifier: Apache-2.0
#include "core/report/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "core/report/results_table.hpp"
#include "core/results/result_cells.hpp"
#include "d5/core/entries/option.hpp"

namespace d5::detail {

namespace {

/// Adds the statistic and the status to labels if they differ.
void add_labels(Figures& figures) {
  const auto all_have = [&](auto Measurement::* member) {
    return std::ranges::all_of(figures, [&](const Figure& figure) {
      return figure.record->*member == figures.front().record->*member;
    });
  };
  const bool one_status = all_have(&Measurement::status);
  const bool one_statistic = all_have(&Measurement::statistic);
  for (auto& figure : figures) {
    const Measurement& m = *figure.record;
    figure.label = numbers_of(m).value;
    if (!one_statistic) figure.label = to_string(m.statistic) + " " + figure.label;
    if (one_status || m.status == Status::passed) continue;
    figure.label += fmt::format(", {}", name_of(m.status));
  }
}

void add_note(Plot& plot, const std::string& sentence) {
  plot.note += (plot.note.empty() ? "" : " ") + sentence;
}

std::string tip_of(const Measurement& m, const std::string& row, const std::string& series) {
  const auto [value, interval] = numbers_of(m);
  return fmt::format("{}{}{}: {} {}{}{}, {} sample{}", row, series.empty() ? "" : ", ", series,
                     to_string(m.statistic), value, interval.empty() ? "" : " ", interval,
                     m.samples.size(), m.samples.size() == 1 ? "" : "s");
}

/// Names that distinguish records within a row.
class SeriesNames {
 public:
  explicit SeriesNames(const std::vector<Report::Source>& sources) : files_(sources.size()) {
    for (const auto& source : sources) {
      for (const auto& m : source.results.measurements) devices_.insert(m.device);
    }
  }
  [[nodiscard]] std::string operator()(const Measurement& m, const std::string& file) const {
    std::string name = m.framework;
    if (devices_.size() > 1) name += " on " + m.device;
    if (files_ > 1) name += (name.empty() ? "" : ", ") + file;
    return name;
  }

 private:
  std::size_t files_;
  std::set<std::string> devices_;
};

}  // namespace

std::vector<std::string> series_of(const std::vector<Report::Source>& sources) {
  const SeriesNames name_of(sources);
  std::vector<std::string> names;
  for (const auto& source : sources) {
    for (const auto& m : source.results.measurements) {
      if (m.samples.empty()) continue;
      std::string name = name_of(m, source.name);
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    }
  }
  return names;
}

std::vector<Figures> figures_by_metric(const std::vector<Report::Source>& sources) {
  const std::vector<Measurement> all = measurements_of(sources);
  const SeriesNames name_of(sources);
  const std::vector<std::string> names = series_of(sources);
  const auto conditions = telling_conditions(all);
  std::vector<Figures> result;
  std::map<std::string, std::size_t> places;
  for (const auto& source : sources) {
    for (const auto& m : source.results.measurements) {
      if (m.samples.empty() || answers_wrongly(m)) continue;
      const std::string series = name_of(m, source.name);
      const auto number = std::size_t(std::ranges::find(names, series) - names.begin());
      const auto [place, is_new] = places.try_emplace(
          m.metric + '\n' + m.unit + '\n' + grouping_of(m) + (is_of_runs(m) ? "\nruns" : ""),
          result.size());
      if (is_new) result.emplace_back();
      RowWords words = row_words(m, conditions);
      const std::string row = full_name(words);
      result[place->second].push_back(
          {&m, std::move(words), row, series, number, estimate(m), "", tip_of(m, row, series)});
    }
  }
  for (auto& figures : result) add_labels(figures);
  return result;
}

std::string grouping_of(const Measurement& measurement) { return condition_of(measurement, "by"); }

bool is_of_runs(const Measurement& measurement) { return measurement.conditions.contains("runs"); }

std::string name_rows(Figures& figures) {
  std::vector<RowWords> rows;
  for (const auto& figure : figures) rows.push_back(figure.words);
  auto [names, shared] = short_names(rows);
  for (std::size_t i = 0; i < names.size(); ++i) figures[i].row = std::move(names[i]);
  return shared;
}

void name_series(Plot& plot, std::size_t number, const std::string& name) {
  if (plot.series.size() <= number) plot.series.resize(number + 1);
  plot.series[number] = name;
}

bool has_several_series(const Plot& plot) {
  return std::ranges::count(plot.series, "") + 1 < std::ssize(plot.series);
}

std::vector<std::size_t> line_numbers(const std::vector<const Figure*>& figures) {
  std::vector<std::size_t> numbers;
  for (const auto* figure : figures) numbers.push_back(figure->number);
  if (std::set(numbers.begin(), numbers.end()).size() < numbers.size()) {
    std::iota(numbers.begin(), numbers.end(), 0);
  }
  return numbers;
}

RowPlaces::RowPlaces(Plot& plot, const Figures& figures) {
  std::size_t left_out = 0;
  for (const auto& figure : figures) {
    const auto [row, is_new] = rows_.try_emplace(figure.row, rows_.size());
    if (row->second >= kMostRows) {
      left_out += is_new ? 1 : 0;
      continue;
    }
    if (is_new) {
      plot.rows.push_back({figure.row, 0});
      lanes_.emplace_back();
    }
    name_series(plot, figure.number, figure.series);
    lanes_[row->second].push_back(&figure);
    plot.rows[row->second].lanes = lanes_[row->second].size();
  }
  for (auto& lanes : lanes_) {
    std::ranges::stable_sort(lanes, {}, [](const Figure* figure) {
      return std::pair(figure->number, figure->record->statistic.quantile);
    });
  }
  if (left_out > 0) {
    add_note(plot,
             fmt::format("The first {} rows of {}; the table has all.", kMostRows, rows_.size()));
  }
  const Status status = figures.front().record->status;
  const bool all_alike = std::ranges::all_of(
      figures, [&](const Figure& figure) { return figure.record->status == status; });
  if (all_alike && status != Status::passed) {
    add_note(plot,
             fmt::format("{} {}.", figures.size() == 1 ? "It is" : "All are", name_of(status)));
  }
}

std::optional<RowPlaces::Place> RowPlaces::operator()(const Figure& figure) const {
  const std::size_t row = rows_.at(figure.row);
  if (row >= lanes_.size()) return std::nullopt;
  const auto& lanes = lanes_[row];
  const auto lane = std::ranges::find(lanes, &figure) - lanes.begin();
  const double height = 1.0 / double(lanes.size());
  return Place{double(row) + (double(lane) + 0.5) * height, height};
}

std::string words_of(const std::string& name) {
  std::string words = name;
  std::ranges::replace(words, '_', ' ');
  return words;
}

std::string title_of(const std::string& name) {
  std::string title = words_of(name);
  if (!title.empty() && title[0] >= 'a' && title[0] <= 'z') title[0] = char(title[0] - 'a' + 'A');
  return title;
}

bool is_curve(const Figure& figure) {
  using enum Statistic::Of;
  const Measurement& m = *figure.record;
  const bool of_training = m.quantity == Quantity::loss || m.quantity == Quantity::accuracy;
  if (is_of_runs(m)) return false;
  return m.samples.size() > 1 && (m.statistic.of == last || m.statistic.of == best ||
                                  (of_training && m.statistic.of != share));
}

}  // namespace d5::detail
