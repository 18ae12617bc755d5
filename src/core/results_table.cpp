// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <set>
#include <sstream>

#include "core/scaled_unit.hpp"
#include "d5/core/error.hpp"
#include "d5/core/results.hpp"

namespace d5 {
namespace {

std::string_view colour_of(Status status) {
  constexpr std::array<std::string_view, 5> colours = {"\x1b[32m", "\x1b[31m", "\x1b[33m",
                                                       "\x1b[2m", "\x1b[2m"};
  return colours.at(std::size_t(status));
}

struct Numbers {
  std::string value = {}, interval = {};
};

Numbers numbers_of(const Measurement& m) {
  if (m.samples.empty()) return {};
  const auto [value, interval, confidence] = estimate(m);
  const auto unit = detail::scaled_unit(value, m.unit);
  const int digits = detail::supported_digits(value, interval.high - interval.low);
  const auto print = [&, value = value](double number) {
    return detail::with_digits(number / unit.divisor, digits, value / unit.divisor);
  };
  Numbers result;
  result.value = print(value) + (unit.name.empty() ? "" : " " + unit.name);
  // Samples that are all equal, such as counted bytes, need no interval.
  if (interval.low < interval.high) {
    result.interval = fmt::format("[{}, {}]", print(interval.low), print(interval.high));
  }
  return result;
}

/// The statistic of all rows that have samples; nothing if they differ.
std::optional<Statistic> only_statistic(const std::vector<Measurement>& measurements) {
  std::optional<Statistic> result;
  for (const auto& m : measurements) {
    if (m.samples.empty()) continue;
    if (result && *result != m.statistic) return std::nullopt;
    result = m.statistic;
  }
  return result ? result : Statistic{};
}

/// Conditions without which a row says too little: a ratio's base, how a training was judged.
constexpr std::array<std::string_view, 4> kAlwaysTold = {"base", "accepted", "seed",
                                                         "learning_rate"};

/// Conditions in which the rows differ; what d5 chooses itself, sample by sample, is not one.
std::vector<std::string> differing_conditions(const std::vector<Measurement>& measurements) {
  std::map<std::string, std::set<std::string>> values;
  for (const auto& m : measurements) {
    for (const auto& [name, value] : m.conditions) values[name].insert(value);
  }
  std::vector<std::string> result;
  for (const auto& [name, seen] : values) {
    const bool short_enough =
        std::all_of(seen.begin(), seen.end(), [](const auto& value) { return value.size() <= 24; });
    const bool chosen_by_d5 = name == "repetitions" || name == "warmup" || name == "rank test p";
    const bool differs =
        seen.size() > 1 || std::ranges::find(kAlwaysTold, name) != kAlwaysTold.end();
    const bool names_row = name == "tensor";  // however long it is
    if (differs && (short_enough || names_row) && !chosen_by_d5 &&
        name.find('.') == std::string::npos) {
      result.push_back(name);
    }
  }
  return result;
}

TextTable rows_of(const std::vector<Measurement>& measurements) {
  using enum TextTable::Align;
  const auto conditions = differing_conditions(measurements);
  const auto statistic = only_statistic(measurements);
  std::vector<TextTable::Column> columns = {"subject", "framework", "device"};
  for (const auto& name : conditions) columns.emplace_back(printable(name));
  columns.insert(columns.end(), {"metric",
                                 "statistic",
                                 {statistic ? to_string(*statistic) : "value", right},
                                 "95% interval",
                                 {"samples", right},
                                 "status"});
  TextTable table(std::move(columns));
  for (const auto& m : measurements) {
    std::vector<std::string> row = {m.subject, m.framework, m.device};
    for (const auto& name : conditions) {
      const auto place = m.conditions.find(name);
      row.push_back(place == m.conditions.end() ? "" : place->second);
    }
    const auto [value, interval] = numbers_of(m);
    const bool none = m.samples.empty();
    row.insert(row.end(),
               {m.metric, statistic || none ? "" : to_string(m.statistic), value, interval,
                none ? "" : fmt::format("{}", m.samples.size()), std::string(name_of(m.status))});
    table.add(std::move(row));
  }
  table.drop_empty_columns();
  return table;
}

/// `lines` with the status at the end of each row coloured; two lines are the header.
std::string painted(const std::string& lines, const std::vector<Measurement>& measurements) {
  std::istringstream stream(lines);
  std::string line, result;
  for (std::size_t i = 0; std::getline(stream, line); ++i) {
    if (i >= 2) {
      const Status status = measurements[i - 2].status;
      line.insert(line.size() - name_of(status).size(), colour_of(status));
      line += "\x1b[0m";
    }
    result += line + '\n';
  }
  return result;
}

}  // namespace

Colour colour_for(int file_descriptor) {
  return isatty(file_descriptor) && !std::getenv("NO_COLOR") ? Colour::always : Colour::never;
}

std::string to_table(const std::vector<Measurement>& measurements, Colour colour) {
  if (measurements.empty()) return "nothing was measured\n";
  std::string rows = rows_of(measurements).to_text(Format::table), reasons;
  if (colour == Colour::always) rows = painted(rows, measurements);
  for (const auto& m : measurements) {
    if (m.status == Status::passed) continue;
    reasons += fmt::format("{}: {}{}{} {}: {}\n", name_of(m.status), printable(m.subject),
                           m.framework.empty() ? "" : " ", printable(m.framework),
                           printable(m.metric), printable_message(m.reason));
  }
  return rows + (reasons.empty() ? "" : "\n") + reasons;
}

std::string to_markdown(const std::vector<Measurement>& measurements) {
  std::string text = rows_of(measurements).to_text(Format::markdown), reasons;
  for (const auto& m : measurements) {
    if (m.status == Status::passed) continue;
    reasons += fmt::format("- {}: {} {} {}: {}\n", name_of(m.status), printable(m.subject),
                           printable(m.framework), printable(m.metric), printable(m.reason));
  }
  return text + (reasons.empty() ? "" : "\n") + reasons;
}

std::string to_text(const Results& results, Format format, Colour colour) {
  switch (format) {
    case Format::table:
      return to_table(results.measurements, colour);
    case Format::json:
      return to_json(results);
    case Format::csv:
      return to_csv(results);
    case Format::markdown:
      return to_markdown(results.measurements);
    case Format::gbench:
      return to_gbench(results);
  }
  return {};
}

std::string to_string(const Comparison& c, const std::string& a, const std::string& b) {
  const auto [low, high] = c.ratio_interval;
  const bool known = low <= high;  // false for NaN
  const int digits = detail::supported_digits(c.ratio, high - low);
  const auto print = [&](double value) { return detail::with_digits(value, digits, c.ratio); };
  const std::string verdict = !known     ? "too few for an interval"
                              : low > 1  ? printable(a) + " is higher"
                              : high < 1 ? printable(a) + " is lower"
                                         : "no difference found";
  return fmt::format("{} / {} = {}{}, rank test p = {}, {} pairs: {}", printable(a), printable(b),
                     print(c.ratio), known ? fmt::format(" [{}, {}]", print(low), print(high)) : "",
                     detail::with_digits(c.p_value, 2), c.pairs, verdict);
}

int exit_status(const std::vector<Measurement>& measurements) {
  return std::any_of(measurements.begin(), measurements.end(),
                     [](const auto& m) { return m.status == Status::failed; });
}

}  // namespace d5
