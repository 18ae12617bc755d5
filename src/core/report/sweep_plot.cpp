// SPDX-License-Identifier: Apache-2.0
// Plots a metric over a numeric identity: time over the batch, time over the memory limit.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "core/report/figures.hpp"
#include "core/results/varying_conditions.hpp"

namespace d5::detail {
namespace {

using MarkShape = PlotMark::Shape;

/// Figures that differ only in one condition, by its value.
using Curve = std::map<double, const Figure*>;

std::string with_series(const RowWords& words, const Figure& figure) {
  std::string name = full_name(words);
  if (!figure.series.empty()) name += (name.empty() ? "" : ", ") + figure.series;
  return name;
}

/// Curves over the condition, by the figures' common values. Empty if any value is not a number, if
/// no two figures differ only in it, or if two figures have the same value.
std::map<std::string, Curve> curves_over(const std::string& condition, const Figures& figures,
                                         const std::function<std::string(const Figure&)>& name_of) {
  std::map<std::string, Curve> curves;
  for (const auto& figure : figures) {
    if (!figure.record->conditions.contains(condition)) continue;
    const auto x = condition_number(*figure.record, condition);
    if (!x || !std::isfinite(*x)) return {};
    if (!curves[name_of(figure)].emplace(*x, &figure).second) return {};
  }
  const bool any = std::ranges::any_of(curves, [](const auto& c) { return c.second.size() > 1; });
  return any ? curves : std::map<std::string, Curve>();
}

/// One curve per subject.
std::map<std::string, Curve> curves_of_subjects(const std::string& condition,
                                                const Figures& figures) {
  return curves_over(condition, figures, [&](const Figure& figure) {
    RowWords others = figure.words;
    std::erase_if(others, [&](const RowWord& word) { return word.column == condition; });
    return with_series(others, figure);
  });
}

/// Splits a text into runs of digits, at odd indices, and the text between them.
std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9', in_number = parts.size() % 2 == 0;
    if (digit != in_number) parts.emplace_back();
    parts.back() += c;
  }
  return parts;
}

/// The common subject of a curve, with a star for varying numbers: "Gemm *x512 512x512". Nothing if
/// the condition's value is not among them, because then the subjects differ in something else.
std::optional<std::string> subject_of_line(const Curve& line) {
  auto shared = parts_of(line.begin()->second->record->subject);
  for (const auto& [x, figure] : line) {
    const auto parts = parts_of(figure->record->subject);
    if (parts.size() != shared.size()) return std::nullopt;
    for (std::size_t i = 0; i < shared.size(); ++i) {
      if (shared[i] != parts[i]) shared[i] = "*";
    }
  }
  for (const auto& [x, figure] : line) {
    const auto parts = parts_of(figure->record->subject);
    bool found = line.size() == 1;
    for (std::size_t i = 1; i < shared.size(); i += 2) {
      found = found || (shared[i] == "*" && parts[i] == fmt::format("{}", x));
    }
    if (!found) return std::nullopt;
  }
  return fmt::format("{}", fmt::join(shared, ""));
}

/// Curves of subjects that differ only in numbers, such as the cases of a sweep (`for`).
std::map<std::string, Curve> curves_across_subjects(const std::string& condition,
                                                    const Figures& figures) {
  std::vector<const Measurement*> records;
  for (const auto& figure : figures) records.push_back(figure.record);
  auto varying = varying_identities(records);
  varying.erase("base");
  const auto name_of = [&](const Figure& figure, const std::string& subject) {
    RowWords words = {{"subject", subject}};
    for (const auto& name : varying) {
      const std::string text = condition_of(*figure.record, name);
      if (name != condition && !text.empty()) words.push_back({name, text});
    }
    return with_series(words, figure);
  };
  const auto lines = curves_over(condition, figures, [&](const Figure& figure) {
    auto parts = parts_of(figure.record->subject);
    for (std::size_t i = 1; i < parts.size(); i += 2) parts[i] = "\n";
    return name_of(figure, fmt::format("{}", fmt::join(parts, "")));
  });
  std::map<std::string, Curve> curves;
  for (const auto& [ignored, line] : lines) {
    const auto subject = subject_of_line(line);
    if (!subject) return {};
    if (!curves.emplace(name_of(*line.begin()->second, *subject), line).second) return {};
  }
  return curves;
}

/// Removes the words with which the names of all curves begin, and returns them.
std::string take_shared_words(std::vector<std::string>& names) {
  std::string shared;
  for (;;) {
    const std::size_t end = names.front().find(' ');
    if (end == std::string::npos) return shared;
    const std::string word = names.front().substr(0, end + 1);
    const bool all_have_it = std::ranges::all_of(names, [&](const std::string& name) {
      return name.starts_with(word) && name.size() > word.size();
    });
    if (!all_have_it) return shared;
    for (std::string& name : names) name.erase(0, word.size());
    shared += (shared.empty() ? "" : " ") + word.substr(0, end);
  }
}

/// Removes the part after the last comma if all names share it, and returns it: "reference" of
/// "mpi, reference".
std::string take_shared_end(std::vector<std::string>& names) {
  const std::size_t comma = names.front().rfind(", ");
  if (comma == std::string::npos || comma == 0) return "";
  const std::string end = names.front().substr(comma);
  const bool all_have_it = std::ranges::all_of(names, [&](const std::string& name) {
    return name.ends_with(end) && name.size() > end.size();
  });
  if (!all_have_it) return "";
  for (std::string& name : names) name.resize(name.size() - end.size());
  return end.substr(2);
}

/// Logarithmic if the range spans a large factor, as for sizes and times.
void choose_scale(PlotAxis& axis, double low, double high) {
  constexpr double kMostForLinear = 8;
  if (low > 0 && high > kMostForLinear * low) axis.scale = PlotAxis::Scale::logarithmic;
}

/// Removes the last curves if a picture cannot hold all. Returns a note that says so.
std::string limit_curves(std::map<std::string, Curve>& curves) {
  constexpr std::size_t kMostCurves = 12;
  const std::size_t all = curves.size();
  if (all <= kMostCurves) return "";
  curves.erase(std::next(curves.begin(), kMostCurves), curves.end());
  return fmt::format("The first {} lines of {}; the table has all.", kMostCurves, all);
}

bool is_constant(const std::map<std::string, Curve>& curves) {
  std::set<double> values;
  for (const auto& [name, curve] : curves) {
    for (const auto& [x, figure] : curve) values.insert(figure->estimate.value);
  }
  return values.size() < 2;
}

Plot plot_over(const std::string& condition, const Figures& figures,
               std::map<std::string, Curve> curves) {
  std::string unit;
  for (const auto& figure : figures) {
    const auto place = figure.record->conditions.find(condition);
    if (place != figure.record->conditions.end()) unit = place->second.unit;
  }
  const Measurement& first = *figures.front().record;
  std::string name = fmt::format("{}-over-{}", first.metric, condition);
  std::ranges::replace(name, ' ', '-');
  Plot plot{.name = std::move(name),
            .title = fmt::format("{} over {}", title_of(first.metric), words_of(condition)),
            .note = limit_curves(curves),
            .x = {.label = words_of(condition), .unit = unit},
            .y = {.label = words_of(first.metric), .unit = first.unit}};
  double low = INFINITY, high = 0, least = INFINITY, most = 0;
  std::vector<const Figure*> firsts;
  for (const auto& [name, curve] : curves) firsts.push_back(curve.begin()->second);
  const auto numbers = line_numbers(firsts);
  std::vector<std::string> names;
  for (const auto& [name, curve] : curves) names.push_back(name);
  std::vector<std::string> shared;
  if (names.size() == 1) {
    shared = names;
  } else {
    shared = {take_shared_words(names), take_shared_end(names)};
  }
  std::erase(shared, "");
  if (!shared.empty()) plot.title += fmt::format(": {}", fmt::join(shared, ", "));
  auto series = names.begin();
  auto number = numbers.begin();
  for (const auto& [name, curve] : curves) {
    PlotMark line{.shape = MarkShape::line, .series = *number++, .points = {}, .tip = name};
    for (const auto& [x, figure] : curve) {
      const auto [value, interval, confidence] = figure->estimate;
      line.points.push_back({x, value});
      low = std::min(low, x), high = std::max(high, x);
      least = std::min(least, value), most = std::max(most, value);
      if (!(interval.low < interval.high)) continue;
      plot.marks.push_back({.shape = MarkShape::interval,
                            .series = line.series,
                            .points = {{x, interval.low}, {x, interval.high}},
                            .tip = figure->tip});
    }
    plot.marks.push_back(line);
    for (const auto& [x, figure] : curve) {  // over lines and intervals
      plot.marks.push_back({.shape = MarkShape::dots,
                            .series = line.series,
                            .points = {{x, figure->estimate.value}},
                            .tip = figure->tip});
    }
    name_series(plot, line.series, *series++);
  }
  if (curves.size() == 1) plot.series.clear();
  choose_scale(plot.x, low, high);
  choose_scale(plot.y, least, most);
  return plot;
}

}  // namespace

std::vector<Plot> sweep_plots(const Figures& figures) {
  std::vector<Plot> plots;
  std::set<std::string> conditions;
  for (const auto& figure : figures) {
    for (const auto& [name, condition] : figure.record->conditions) {
      if (condition.role == Role::identity && condition.number()) conditions.insert(name);
    }
  }
  for (const auto& condition : conditions) {
    auto curves = curves_of_subjects(condition, figures);
    if (curves.empty()) curves = curves_across_subjects(condition, figures);
    if (is_constant(curves)) continue;
    plots.push_back(plot_over(condition, figures, std::move(curves)));
  }
  return plots;
}

}  // namespace d5::detail
