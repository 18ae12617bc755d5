// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>

#include "core/scaled_unit.hpp"
#include "d5/core/error.hpp"
#include "d5/core/results.hpp"

namespace d5 {
namespace {

enum class Align { left, right };

struct Column {
  std::string title;
  Align align = Align::left;
  std::vector<std::string> cells = {};
};

/// Columns that text takes on a screen: characters, not bytes.
std::size_t width_of(std::string_view text) {
  return std::size_t(std::count_if(text.begin(), text.end(),
                                   [](char c) { return (std::uint8_t(c) & 0xc0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t width, Align align) {
  const std::string space(width - width_of(text), ' ');
  return align == Align::left ? text + space : space + text;
}

std::string_view colour_of(Status status) {
  constexpr std::array<std::string_view, 5> colours = {"\x1b[32m", "\x1b[31m", "\x1b[33m",
                                                       "\x1b[2m", "\x1b[2m"};
  return colours.at(std::size_t(status));
}

struct Numbers {
  std::string median, interval;
};

Numbers numbers_of(const Measurement& m) {
  if (m.samples.empty()) return {};
  const Summary summary = summarise(m.samples);
  const auto [low, high] = summary.median_interval;
  const auto unit = detail::scaled_unit(summary.median, m.unit);
  const int digits = detail::supported_digits(summary.median, high - low);
  const auto print = [&](double value) {
    return detail::with_digits(value / unit.divisor, digits, summary.median / unit.divisor);
  };
  Numbers result;
  result.median = print(summary.median) + (unit.name.empty() ? "" : " " + unit.name);
  // Samples that are all equal, such as counted bytes, need no interval.
  if (low < high) result.interval = fmt::format("[{}, {}]", print(low), print(high));
  return result;
}

/// Conditions in which the rows differ; what d5 chooses itself, sample by sample, is not one.
std::vector<std::string> differing_conditions(const std::vector<Measurement>& measurements) {
  std::map<std::string, std::set<std::string>> values;
  for (const auto& m : measurements) {
    for (const auto& [name, value] : m.conditions) values[name].insert(value);
  }
  std::vector<std::string> result;
  for (const auto& [name, seen] : values) {
    const bool short_enough =
        std::all_of(seen.begin(), seen.end(), [](const auto& value) { return value.size() <= 16; });
    if (seen.size() > 1 && short_enough && name != "repetitions" && name != "warmup" &&
        name.find('.') == std::string::npos) {
      result.push_back(name);
    }
  }
  return result;
}

std::vector<Column> columns_of(const std::vector<Measurement>& measurements) {
  std::vector<Column> columns;
  const auto add = [&](const std::string& title, Align align, auto&& cell) {
    Column column{title, align};
    for (const auto& m : measurements) column.cells.push_back(cell(m));
    const bool empty = std::all_of(column.cells.begin(), column.cells.end(),
                                   [](const auto& text) { return text.empty(); });
    if (!empty) columns.push_back(std::move(column));
  };
  add("subject", Align::left, [](auto& m) { return printable(m.subject); });
  add("framework", Align::left, [](auto& m) { return printable(m.framework); });
  add("device", Align::left, [](auto& m) { return printable(m.device); });
  for (const auto& name : differing_conditions(measurements)) {
    add(printable(name), Align::left, [&](auto& m) {
      const auto place = m.conditions.find(name);
      return place == m.conditions.end() ? "" : printable(place->second);
    });
  }
  add("metric", Align::left, [](auto& m) { return printable(m.metric); });
  add("median", Align::right, [](auto& m) { return numbers_of(m).median; });
  add("95% interval", Align::left, [](auto& m) { return numbers_of(m).interval; });
  add("samples", Align::right,
      [](auto& m) { return m.samples.empty() ? "" : fmt::format("{}", m.samples.size()); });
  return columns;
}

}  // namespace

Colour colour_for(int file_descriptor) {
  return isatty(file_descriptor) && !std::getenv("NO_COLOR") ? Colour::always : Colour::never;
}

std::string to_table(const std::vector<Measurement>& measurements, Colour colour) {
  if (measurements.empty()) return "nothing was measured\n";
  const auto columns = columns_of(measurements);
  std::string header, rule, body, reasons;
  std::vector<std::size_t> widths;
  for (const auto& column : columns) {
    std::size_t width = width_of(column.title);
    for (const auto& cell : column.cells) width = std::max(width, width_of(cell));
    header += padded(column.title, width, column.align) + "  ";
    rule += std::string(width, '-') + "  ";
    widths.push_back(width);
  }
  for (std::size_t row = 0; row < measurements.size(); ++row) {
    const auto& m = measurements[row];
    for (std::size_t i = 0; i < columns.size(); ++i) {
      body += padded(columns[i].cells[row], widths[i], columns[i].align) + "  ";
    }
    const std::string status(name_of(m.status));
    body +=
        colour == Colour::always ? std::string(colour_of(m.status)) + status + "\x1b[0m" : status;
    body += '\n';
    if (m.status != Status::passed) {
      reasons += fmt::format("{}: {}{}{} {}: {}\n", status, printable(m.subject),
                             m.framework.empty() ? "" : " ", printable(m.framework),
                             printable(m.metric), printable_message(m.reason));
    }
  }
  return header + "status\n" + rule + "------\n" + body + (reasons.empty() ? "" : "\n") + reasons;
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
