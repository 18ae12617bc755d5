// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "d5/core/results/results.hpp"
#include "d5/level1_network/profile/network_profile.hpp"

namespace d5 {
namespace {

constexpr std::size_t kMostRows = 20;

/// The records of one group, by metric.
struct Row {
  std::map<std::string, const Measurement*, std::less<>> metrics = {};

  [[nodiscard]] double value(const std::string& metric) const {
    const auto place = metrics.find(metric);
    return place == metrics.end() ? 0 : estimate(*place->second).value;
  }
  [[nodiscard]] std::string cell(const std::string& metric) const {
    const auto place = metrics.find(metric);
    if (place == metrics.end()) return "";
    return with_prefix(value(metric), place->second->unit == "byte" ? "B" : place->second->unit);
  }
  [[nodiscard]] const Measurement& time() const { return *metrics.at("time"); }
};

/// The rows of one table, in descending order of cost.
std::vector<Row> rows_of(const std::vector<const Measurement*>& records, const std::string& by) {
  std::vector<Row> rows;
  for (const Measurement* m : records) {
    if (condition_of(*m, "by") != by) continue;
    if (m->metric == "time") rows.emplace_back();  // the first of each group
    if (!rows.empty()) rows.back().metrics[m->metric] = m;
  }
  std::ranges::stable_sort(rows, std::greater<>(),
                           [](const Row& row) { return row.value("time"); });
  return rows;
}

std::string percent(double share) { return fmt::format("{:.1f}%", 100 * share); }

std::string interval_of(const Measurement& m) {
  const Interval interval = estimate(m).interval;
  if (!(interval.low < interval.high)) return "";
  return fmt::format("[{}, {}]", with_prefix(interval.low, m.unit),
                     with_prefix(interval.high, m.unit));
}

std::string table_of(const std::vector<Row>& rows, const std::string& by, Format format) {
  using enum TextTable::Align;
  TextTable table({by,
                   by == "node" ? "operator" : "nodes",
                   "direction",
                   {"time", right},
                   "95% interval",
                   {"share", right},
                   {"with its graphs", right},
                   {"rate", right},
                   {"bytes", right},
                   {"memory", right}});
  const bool both = std::ranges::any_of(
      rows, [](const Row& row) { return condition_of(row.time(), "direction") == "backward"; });
  double left_out = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    if (i >= kMostRows) {
      left_out += row.value("share");
      continue;
    }
    const Measurement& time = row.time();
    table.add({condition_of(time, by), condition_of(time, by == "node" ? "operator" : "nodes"),
               both ? condition_of(time, "direction") : "", row.cell("time"), interval_of(time),
               percent(row.value("share")), row.cell("time_with_graphs"), row.cell("flop_rate"),
               row.cell("bytes"), row.cell("memory")});
  }
  table.drop_empty_columns();
  std::string text = table.to_text(format);
  if (rows.size() > kMostRows) {
    text += fmt::format("{} more take {}\n", rows.size() - kMostRows, percent(left_out));
  }
  return text;
}

/// "profiled 12.3 ms a run, 1.01 [0.99, 1.03] of 12.2 ms unobserved; operators take 98.1% of it".
std::string cost_of(const Measurement& profiled, const Measurement* time,
                    const std::vector<const Measurement*>& records) {
  std::string text = fmt::format("profiled {} a run", with_prefix(estimate(profiled).value, "s"));
  if (time && time->samples.size() == profiled.samples.size()) {
    const auto [ratio, interval, p_value, pairs] = compare(profiled.samples, time->samples);
    text += fmt::format(", {:.3f}", ratio);
    if (interval.low < interval.high) {
      text += fmt::format(" [{:.3f}, {:.3f}]", interval.low, interval.high);
    }
    text += fmt::format(" of {} unobserved", with_prefix(estimate(*time).value, "s"));
  }
  const auto share = std::ranges::find(records, "steps_share", &Measurement::metric);
  return text + fmt::format("; operators take {} of it\n", percent(estimate(**share).value));
}

/// One subject in one framework.
std::string text_of(const Measurement& profiled, const Measurement* time,
                    const std::vector<const Measurement*>& records, Format format) {
  std::string text =
      fmt::format("{}, {}, {}: {}", printable(profiled.subject), printable(profiled.framework),
                  condition_of(profiled, "pass"), cost_of(profiled, time, records));
  const auto operators = rows_of(records, "operator");
  const auto nodes = rows_of(records, "node"), layers = rows_of(records, "layer");
  text += '\n' + table_of(operators, "operator", format);
  // A network whose names have no parts has no layers.
  if (layers.size() < nodes.size()) text += '\n' + table_of(layers, "layer", format);
  return text + '\n' + table_of(nodes, "node", format);
}

}  // namespace

std::string profile_tables(const std::vector<Measurement>& records, Format format) {
  std::string text;
  const auto same = [](const Measurement& a, const Measurement& b) {
    return a.subject == b.subject && a.framework == b.framework &&
           condition_of(a, "pass") == condition_of(b, "pass");
  };
  for (const Measurement& profiled : records) {
    if (profiled.metric != "profiled_time" || profiled.samples.empty()) continue;
    const Measurement* time = nullptr;
    std::vector<const Measurement*> parts;
    for (const Measurement& m : records) {
      if (!same(m, profiled)) continue;
      if (is_profile_record(m)) {
        parts.push_back(&m);
      } else if (m.metric == "time") {
        time = &m;
      }
    }
    if (!text.empty()) text += '\n';
    text += text_of(profiled, time, parts, format);
  }
  return text;
}

}  // namespace d5
