// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/overlap/overlap_analysis.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "d5/core/statistics/geometric_mean.hpp"
#include "d5/core/statistics/statistics.hpp"

namespace d5::detail {
namespace {

/// a / b for two positive numbers that were not measured in pairs: its interval covers all values
/// in both intervals.
inline Estimate ratio_estimate(const Estimate& a, const Estimate& b) {
  return {a.value / b.value,
          {a.interval.low / b.interval.high, a.interval.high / b.interval.low},
          a.confidence};
}

}  // namespace
}  // namespace d5::detail

namespace d5 {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// The cells of one model at one batch size.
using Row = std::vector<const OverlapCell*>;

std::vector<Row> rows_of(const OverlapGrid& grid) {
  std::vector<Row> rows;
  for (const OverlapCell& cell : grid.cells) {
    auto row = std::ranges::find_if(rows, [&](const Row& one) {
      return one.front()->model == cell.model && one.front()->batch == cell.batch;
    });
    if (row == rows.end()) row = rows.insert(row, Row{});
    row->push_back(&cell);
  }
  return rows;
}

/// The order of cells in a row: paired gains are more precise than throughputs.
Estimate speed_of(const OverlapCell& cell) {
  if (cell.gain) return *cell.gain;
  return {cell.throughput, cell.interval, kUnknown};
}

const OverlapCell& best_of(const Row& row) {
  return **std::ranges::max_element(row, {},
                                    [](const OverlapCell* cell) { return speed_of(*cell).value; });
}

bool meet(const Interval& a, const Interval& b) { return a.low <= b.high && b.low <= a.high; }

Estimate gain_over(const OverlapCell& cell, const OverlapCell& base) {
  if (cell.gain) return *cell.gain;
  if (&cell == &base) return {1, {1, 1}, kUnknown};
  return detail::ratio_estimate({cell.throughput, cell.interval, kUnknown},
                                {base.throughput, base.interval, kUnknown});
}

BestSetting best_setting(const Row& row, const std::string& base_name) {
  const OverlapCell& best = best_of(row);
  BestSetting result{.model = best.model,
                     .batch = best.batch,
                     .setting = best.setting,
                     .throughput = best.throughput,
                     .base_throughput = kUnknown,
                     .gain = {kUnknown, {kUnknown, kUnknown}, kUnknown}};
  const auto base = std::ranges::find(row, base_name, &OverlapCell::setting);
  if (base != row.end()) {
    result.base_throughput = (*base)->throughput;
    result.gain = gain_over(best, **base);
    result.differs = result.gain.interval.low > 1;
  }
  for (const OverlapCell* cell : row) {
    if (cell != &best && meet(speed_of(*cell).interval, speed_of(best).interval)) {
      result.rivals.push_back(cell->setting);
    }
  }
  return result;
}

std::string percent_words(double share) { return fmt::format("{:.1f}%", 100 * share); }

std::string gain_words(const BestSetting& best, const std::string& base) {
  if (std::isnan(best.gain.value)) return fmt::format("{} was not measured", base);
  if (best.setting == base) return "";
  if (!best.differs) return "no difference found";
  return percent_words(best.gain.value - 1);
}

std::string interval_words(const BestSetting& best, const std::string& base) {
  const Interval& interval = best.gain.interval;
  if (best.setting == base || std::isnan(interval.low) || std::isnan(interval.high)) return "";
  return fmt::format("[{}, {}]", percent_words(interval.low - 1), percent_words(interval.high - 1));
}

}  // namespace

std::vector<BestSetting> best_settings(const OverlapGrid& grid) {
  std::vector<BestSetting> all;
  for (const Row& row : rows_of(grid)) all.push_back(best_setting(row, grid.base));
  return all;
}

std::vector<SingleSetting> single_settings(const OverlapGrid& grid) {
  std::vector<SingleSetting> all;
  std::vector<std::vector<double>> shares;
  for (const Row& row : rows_of(grid)) {
    const double best = speed_of(best_of(row)).value;
    for (const OverlapCell* cell : row) {
      auto place = std::ranges::find(all, cell->setting, &SingleSetting::setting);
      if (place == all.end()) {
        place = all.insert(place, SingleSetting{.setting = cell->setting});
        shares.emplace_back();
      }
      const double share = speed_of(*cell).value / best;
      shares[std::size_t(place - all.begin())].push_back(share);
      ++place->rows;
      if (share == 1) ++place->best_rows;
      if (place->worst.empty() || 1 - share > place->worst_loss) {
        place->worst_loss = 1 - share;
        place->worst = fmt::format("{} {}", cell->model, cell->batch);
      }
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].mean_loss = 1 - geometric_mean(shares[i]).value;
  }
  std::ranges::stable_sort(all, [](const SingleSetting& a, const SingleSetting& b) {
    return a.rows != b.rows ? a.rows > b.rows : a.mean_loss < b.mean_loss;
  });
  return all;
}

TextTable best_settings_table(const OverlapGrid& grid) {
  using enum TextTable::Align;
  TextTable table({"model",
                   {"batch", right},
                   "best",
                   {"samples/s", right},
                   {fmt::format("of {}", grid.base), right},
                   {"gain", right},
                   {"interval", right},
                   "perhaps as good"});
  for (const BestSetting& best : best_settings(grid)) {
    const bool has_base = !std::isnan(best.base_throughput);
    table.add({best.model, fmt::format("{}", best.batch), best.setting,
               fmt::format("{:.4g}", best.throughput),
               has_base ? fmt::format("{:.4g}", best.base_throughput) : "",
               gain_words(best, grid.base), interval_words(best, grid.base),
               fmt::format("{}", fmt::join(best.rivals, ", "))});
  }
  return table;
}

TextTable single_settings_table(const OverlapGrid& grid) {
  using enum TextTable::Align;
  TextTable table({"one setting for all",
                   {"rows", right},
                   {"best in", right},
                   {"mean loss", right},
                   {"worst loss", right},
                   "where"});
  for (const SingleSetting& one : single_settings(grid)) {
    table.add({one.setting, fmt::format("{}", one.rows), fmt::format("{}", one.best_rows),
               percent_words(one.mean_loss), percent_words(one.worst_loss), one.worst});
  }
  return table;
}

}  // namespace d5
