// SPDX-License-Identifier: Apache-2.0
#include "d5/core/results/case_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <tuple>

#include "core/results/result_cells.hpp"
#include "d5/core/results/ratio_summary.hpp"
#include "d5/core/statistics/geometric_mean.hpp"

namespace d5 {
namespace {

/// Interleaved times of a case, relative to the base.
struct Case {
  std::string device, pass;
  std::map<std::string, std::string> names;  ///< identifies the case
  std::map<std::string, double> ratios;      ///< by framework
  bool mistrusted = false;                   ///< any ratio is mistrusted
};

std::map<std::string, std::string> names_of(const Measurement& m) {
  std::map<std::string, std::string> names;
  for (const auto& [column, text, kind] : detail::cells_of(m)) {
    const bool tells = kind == detail::ResultCell::Kind::tells && column != "framework";
    if (tells) names[column] = text;
  }
  return names;
}

std::vector<Case> cases_in(const std::vector<Measurement>& measurements) {
  std::vector<Case> cases;
  for (const auto& m : measurements) {
    const std::string base = condition_of(m, "base");
    if (m.metric != "time_ratio" || m.samples.empty() || base.empty()) continue;
    const double ratio = estimate(m).value;
    if (m.framework.empty() || m.framework == base || !(ratio > 0)) continue;
    auto names = names_of(m);
    names["base"] = base;
    auto place = std::ranges::find_if(cases, [&](const Case& one) {
      return one.names == names && !one.ratios.contains(m.framework);
    });
    if (place == cases.end()) {
      place =
          cases.insert(place, {m.device, condition_of(m, "pass"), std::move(names), {{base, 1.0}}});
    }
    place->ratios[m.framework] = ratio;
    place->mistrusted |= m.status == Status::mistrusted;
  }
  std::erase_if(cases, [](const Case& one) { return one.ratios.size() < 3; });
  return cases;
}

struct FrameworkRow {
  std::string framework, device, pass;
  std::vector<double> over_fastest = {}, shares = {};
  std::size_t mistrusted = 0;  ///< number of mistrusted cases

  [[nodiscard]] bool is_of(const std::string& its_framework, const std::string& its_device,
                           const std::string& its_pass) const {
    return framework == its_framework && device == its_device && pass == its_pass;
  }
};

std::vector<FrameworkRow> rows_of(const std::vector<Case>& cases) {
  std::vector<FrameworkRow> rows;
  for (const Case& one : cases) {
    const double least = std::ranges::min(one.ratios | std::views::values);
    for (const auto& [framework, ratio] : one.ratios) {
      auto row = std::ranges::find_if(
          rows, [&](const FrameworkRow& r) { return r.is_of(framework, one.device, one.pass); });
      if (row == rows.end()) row = rows.insert(row, {framework, one.device, one.pass});
      row->over_fastest.push_back(ratio / least);
      row->mistrusted += one.mistrusted ? 1 : 0;
    }
  }
  std::erase_if(rows, [](const FrameworkRow& row) { return row.over_fastest.size() < 2; });
  return rows;
}

void add_shares(std::vector<FrameworkRow>& rows, const std::vector<Measurement>& measurements) {
  for (const auto& m : measurements) {
    if (m.metric != "share_of_peak" || m.samples.empty() || answers_wrongly(m)) continue;
    for (FrameworkRow& row : rows) {
      if (row.is_of(m.framework, m.device, condition_of(m, "pass")))
        row.shares.push_back(estimate(m).value);
    }
  }
}

/// Sorts by pass, in order of appearance, then by distance from the fastest.
void sort(std::vector<FrameworkRow>& rows) {
  std::vector<std::pair<std::string, std::string>> groups;
  const auto group = [&](const FrameworkRow& row) {
    const std::pair key{row.device, row.pass};
    auto place = std::ranges::find(groups, key);
    if (place == groups.end()) place = groups.insert(place, key);
    return place - groups.begin();
  };
  std::ranges::for_each(rows, group);
  std::ranges::stable_sort(rows, {}, [&](const FrameworkRow& row) {
    return std::tuple(group(row), geometric_mean(row.over_fastest).value);
  });
}

}  // namespace

TextTable summary_of_fastest(const std::vector<Measurement>& measurements) {
  using enum TextTable::Align;
  TextTable table({"framework",
                   "device",
                   "pass",
                   {"cases", right},
                   {"fastest in", right},
                   {"time / fastest", right},
                   "95% interval",
                   {"share of peak", right},
                   {"mistrusted", right}});
  std::vector<FrameworkRow> rows = rows_of(cases_in(measurements));
  add_shares(rows, measurements);
  sort(rows);
  for (const FrameworkRow& row : rows) {
    const Estimate mean = geometric_mean(row.over_fastest);
    const Estimate share = geometric_mean(row.shares);
    table.add({row.framework, row.device == "cpu" ? "" : row.device, row.pass,
               fmt::format("{}", row.over_fastest.size()),
               fmt::format("{}", std::ranges::count(row.over_fastest, 1.0)),
               fmt::format("{:.3f}", mean.value), text_of_mean(mean.interval),
               share.value > 0 ? fmt::format("{:.3f}", share.value) : "",
               row.mistrusted > 0 ? fmt::format("{}", row.mistrusted) : ""});
  }
  table.drop_empty_columns();
  return table;
}

std::vector<TextTable> summaries_of(const std::vector<Measurement>& measurements) {
  std::vector<TextTable> tables;
  for (auto&& table : {summary_of_ratios(measurements), summary_of_fastest(measurements)}) {
    if (table.size() > 0) tables.push_back(table);
  }
  return tables;
}

}  // namespace d5
