// SPDX-License-Identifier: Apache-2.0
#include "core/results/result_cells.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/results/scaled_unit.hpp"

namespace d5::detail {
namespace {

/// Whether the condition is another statistic of the number, such as its mean: it stands behind it.
bool is_on_the_number(const Measurement& m, const Condition& condition) {
  return condition.role == Role::finding && condition.number() && !m.unit.empty() &&
         condition.unit == m.unit;
}

ResultCell condition_cell(const Measurement& m, const std::string& name,
                          const Condition& condition) {
  using enum ResultCell::Kind;
  // A ratio is meaningless without its base.
  if (name == "base" && m.quantity == Quantity::ratio) return {name, condition.text(), number};
  return {title_of_condition(name), condition.text(),
          condition.role == Role::finding ? found : tells};
}

}  // namespace

std::string title_of_condition(const std::string& name) {
  return name == "samples" ? "distributed.samples" : name;
}

ResultNumbers numbers_of(const Measurement& m) {
  if (m.samples.empty()) return {};
  const auto [value, interval, confidence] = estimate(m);
  const auto unit = scaled_unit(value, m.unit);
  const bool varies = interval.low < interval.high;
  const bool is_whole = m.quantity == Quantity::count && unit.divisor == 1 && !varies &&
                        std::abs(value) < 1e6 && value == std::trunc(value);
  const int digits = supported_digits(value, interval.high - interval.low);
  const auto print = [&, value = value](double number) {
    return is_whole ? fmt::format("{:.0f}", number)
                    : with_digits(number / unit.divisor, digits, value / unit.divisor);
  };
  ResultNumbers result;
  result.value = print(value) + (unit.name.empty() ? "" : " " + unit.name);
  // Samples that are all equal, such as counted bytes, need no interval.
  if (varies) {
    result.interval = fmt::format("[{}, {}]", print(interval.low), print(interval.high));
  }
  return result;
}

std::string starred_value(const Measurement* m) {
  if (!m) return "";
  if (m->samples.empty() || answers_wrongly(*m)) return std::string(name_of(m->status));
  return numbers_of(*m).value + (m->status == Status::passed ? "" : "*");
}

std::vector<ResultCell> cells_of(const Measurement& m) {
  using enum ResultCell::Kind;
  // A single sample needs no statistic.
  const bool none = m.samples.empty() || m.statistic.of == Statistic::Of::single;
  const auto [value, interval] = numbers_of(m);
  std::vector<ResultCell> cells = {
      {"subject", m.subject}, {"framework", m.framework}, {"device", m.device}};
  for (const auto& [name, condition] : m.conditions) {
    if (condition.role == Role::aside || is_on_the_number(m, condition)) continue;
    cells.push_back(condition_cell(m, name, condition));
  }
  cells.push_back({"metric", m.metric, number});
  cells.push_back({"statistic", none ? "" : to_string(m.statistic), from});
  cells.push_back({"value", value, number});
  cells.push_back({"95% interval", interval, number});
  for (const auto& [name, condition] : m.conditions) {
    if (is_on_the_number(m, condition)) cells.push_back(condition_cell(m, name, condition));
  }
  // One number with an interval of its own was computed from many samples.
  const bool is_computed = m.samples.size() == 1 && m.conditions.contains("interval low");
  cells.push_back(
      {"samples", none || is_computed ? "" : fmt::format("{}", m.samples.size()), from});
  return cells;
}

}  // namespace d5::detail
