// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "d5/core/statistics/student.hpp"
#include "d5/prediction/overlap/overlap_map.hpp"
#include "d5/prediction/overlap/overlap_map_rounds.hpp"

namespace d5 {
namespace {

constexpr const char* kKernel = "kernel_slowdown";
constexpr const char* kCalls = "all_reduce_slowdown";

bool is_map_cell(const Measurement& record) {
  return record.metric == kKernel || record.metric == kCalls;
}

/// Kernels or resources, in the order of their first record.
template <class Of>
std::vector<std::string> names_of(const std::vector<Measurement>& records, const Of& of) {
  std::vector<std::string> names;
  for (const Measurement& record : records) {
    if (!is_map_cell(record)) continue;
    const std::string name = of(record);
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}
std::vector<std::string> kernels_in(const std::vector<Measurement>& records) {
  return names_of(records, [](const Measurement& record) { return record.subject; });
}
std::vector<std::string> resources_in(const std::vector<Measurement>& records) {
  return names_of(records,
                  [](const Measurement& record) { return condition_of(record, "resources"); });
}

/// The joined result of the rounds of one cell.
struct SlowdownCell {
  std::vector<std::vector<double>> rounds = {};
  bool mistrusted = false;
  [[nodiscard]] bool is_measured() const { return !rounds.empty(); }
  [[nodiscard]] Estimate slowdown() const { return estimate_of_groups(rounds); }
};

SlowdownCell find_cell(const std::vector<Measurement>& records, const std::string& metric,
                       const std::string& kernel, const std::string& resources) {
  SlowdownCell cell;
  for (const Measurement& record : records) {
    if (record.metric != metric || record.subject != kernel || record.samples.empty() ||
        condition_of(record, "resources") != resources) {
      continue;
    }
    cell.rounds.push_back(record.samples);
    cell.mistrusted = cell.mistrusted || record.status != Status::passed;
  }
  return cell;
}

std::string cell_words(const SlowdownCell& cell) {
  if (!cell.is_measured()) return "-";
  return fmt::format("{:.2f}{}", cell.slowdown().value, cell.mistrusted ? "?" : "");
}

/// A class of slowdown in the legend.
struct SlowdownClass {
  double below;
  const char* name;
};
constexpr SlowdownClass kClasses[] = {
    {1.05, "up to 1.05"}, {1.2, "to 1.2"}, {1.5, "to 1.5"},
    {2, "to 2"},          {3, "to 3"},     {std::numeric_limits<double>::infinity(), "above 3"}};

std::size_t class_of(double slowdown) {
  const auto* place = std::ranges::find_if(
      kClasses, [&](const SlowdownClass& one) { return slowdown < one.below; });
  return std::size_t(place - std::begin(kClasses));
}

Plot slowdown_picture(const std::vector<Measurement>& records, const std::string& metric,
                      const std::string& name, const std::string& title) {
  const auto kernels = kernels_in(records);
  const auto resources = resources_in(records);
  Plot plot{
      .name = name, .title = title, .x = {.label = "resources", .scale = PlotAxis::Scale::whole}};
  for (std::size_t i = 0; i < resources.size(); ++i) {
    plot.note += fmt::format("{}{}: {}", i ? "; " : "", i + 1, resources[i]);
  }
  for (const auto& one : kClasses) plot.series.emplace_back(one.name);
  for (std::size_t row = 0; row < kernels.size(); ++row) {
    plot.rows.push_back({.label = kernels[row]});
    for (std::size_t column = 0; column < resources.size(); ++column) {
      const SlowdownCell cell = find_cell(records, metric, kernels[row], resources[column]);
      if (!cell.is_measured()) continue;
      const Estimate slowdown = cell.slowdown();
      const double x = double(column + 1), y = double(row);
      plot.marks.push_back(
          {.shape = PlotMark::Shape::box,
           .series = class_of(slowdown.value),
           .points = {{x - 0.4, y + 0.1}, {x + 0.05, y + 0.9}},
           .label = cell_words(cell),
           .tip = fmt::format("{}, {}: {:.3f} [{:.3f}, {:.3f}]", kernels[row], resources[column],
                              slowdown.value, slowdown.interval.low, slowdown.interval.high)});
    }
  }
  return plot;
}

/// The differences of two maps in what must agree; empty: none.
std::string difference(const Results& first, const Results& second) {
  std::string found;
  const auto compare = [&](const std::string& what, const std::string& a, const std::string& b) {
    if (a == b || !found.empty()) return;
    found =
        fmt::format("the maps are from different {}: {} and {}", what, printable(a), printable(b));
  };
  compare("machines", first.environment.hostname, second.environment.hostname);
  compare("processors", first.environment.cpu, second.environment.cpu);
  compare("threads", std::to_string(first.environment.threads),
          std::to_string(second.environment.threads));
  for (const char* name : {"ranks", "bytes", "all_reduce"}) {
    const auto of = [&](const Measurement& record) { return condition_of(record, name); };
    const auto a = names_of(first.measurements, of), b = names_of(second.measurements, of);
    compare(name, a.empty() ? "" : a.front(), b.empty() ? "" : b.front());
  }
  return found;
}

}  // namespace

TextTable overlap_map_table(const std::vector<Measurement>& records) {
  using enum TextTable::Align;
  std::vector<TextTable::Column> columns{"kernel / all-reduce slowdown"};
  const auto resources = resources_in(records);
  for (const std::string& words : resources) columns.emplace_back(words, right);
  TextTable table(columns);
  for (const std::string& kernel : kernels_in(records)) {
    std::vector<std::string> row{kernel};
    for (const std::string& words : resources) {
      row.push_back(fmt::format("{} / {}", cell_words(find_cell(records, kKernel, kernel, words)),
                                cell_words(find_cell(records, kCalls, kernel, words))));
    }
    table.add(std::move(row));
  }
  return table;
}

std::vector<Plot> overlap_map_plots(const std::vector<Measurement>& records) {
  return {slowdown_picture(records, kKernel, "kernel-slowdown",
                           "Kernel slowdown: time beside all-reduces / alone"),
          slowdown_picture(records, kCalls, "all-reduce-slowdown",
                           "All-reduce slowdown: time beside a kernel / alone")};
}

double OverlapMapAgreement::share() const {
  if (cells.empty()) return std::numeric_limits<double>::quiet_NaN();
  return double(std::ranges::count(cells, true, &Cell::agree)) / double(cells.size());
}

OverlapMapAgreement compare_overlap_maps(const Results& first, const Results& second,
                                         Misfit misfit) {
  OverlapMapAgreement agreement{.mistrusted = difference(first, second)};
  if (!agreement.mistrusted.empty() && misfit == Misfit::refuse) {
    throw ValueError("overlap map: " + agreement.mistrusted + "; measure both alike");
  }
  const auto compare = [&](const std::string& metric, const std::string& kernel,
                           const std::string& resources) {
    const SlowdownCell a = find_cell(first.measurements, metric, kernel, resources);
    const SlowdownCell b = find_cell(second.measurements, metric, kernel, resources);
    if (!a.is_measured() || !b.is_measured()) return;
    OverlapMapAgreement::Cell cell{.kernel = kernel,
                                   .resources = resources,
                                   .metric = metric,
                                   .first = a.slowdown(),
                                   .second = b.slowdown()};
    cell.agree = cell.first.interval.low <= cell.second.interval.high &&
                 cell.second.interval.low <= cell.first.interval.high;
    agreement.cells.push_back(std::move(cell));
  };
  for (const std::string& kernel : kernels_in(first.measurements)) {
    for (const std::string& resources : resources_in(first.measurements)) {
      compare(kKernel, kernel, resources);
      compare(kCalls, kernel, resources);
    }
  }
  return agreement;
}

}  // namespace d5
