// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/analysis/evaluation_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"
#include "evaluation/analysis/cell_plot.hpp"

namespace d5 {
namespace {

constexpr double kSecondsInHour = 3600;
constexpr double kMillion = 1e6;

double price_of(const EvaluationCell& cell, double given) {
  if (given > 0) return given;
  for (const Measurement* record : cell.records) {
    if (const auto price = condition_number(*record, "price_per_hour")) return *price;
  }
  return 0;
}

/// Cost of a million predictions at the measured throughput: it grows as throughput falls.
std::optional<Estimate> cost_of(const EvaluationCell& cell, double price_per_hour) {
  const auto rate = cell.throughput();
  const double price = price_of(cell, price_per_hour);
  if (!rate || price <= 0) return std::nullopt;
  const double of_one_a_second = kMillion * price / kSecondsInHour;
  return Estimate{of_one_a_second / rate->value,
                  {of_one_a_second / rate->interval.high, of_one_a_second / rate->interval.low},
                  rate->confidence};
}

/// The unit of a number of a cell.
std::string unit_of(const EvaluationCell& cell, const std::string& number,
                    const ChoiceOptions& options) {
  return number == "cost" ? currency_of(cell, options.price_per_hour, options.currency)
                          : unit_of_choice(number);
}

bool holds(double value, const Requirement& required) {
  return required.at_least ? value >= required.limit : value <= required.limit;
}

void judge(Candidate& candidate, const ChoiceOptions& options) {
  const auto add = [](std::string& text, const std::string& more) {
    text += (text.empty() ? "" : "; ") + more;
  };
  if (candidate.cell.status() != Status::passed) {
    add(candidate.why_not,
        fmt::format("{}: {}", name_of(candidate.cell.status()), candidate.cell.reason()));
  }
  for (const Requirement& required : options.requirements) {
    const auto number = choice_number(candidate.cell, required.number, options.price_per_hour);
    const std::string unit = unit_of(candidate.cell, required.number, options);
    const std::string wanted =
        fmt::format("{} {} {}", required.number,
                    required.at_least ? ">=" : "<=", with_prefix(required.limit, unit));
    if (!number) {
      add(candidate.why_not, fmt::format("{}: it was not measured", wanted));
    } else if (!holds(number->value, required)) {
      add(candidate.why_not, fmt::format("{}: it is {}", wanted, detail::value_text(number, unit)));
    } else if (number->interval.low <= number->interval.high &&
               !(holds(number->interval.low, required) && holds(number->interval.high, required))) {
      add(candidate.doubt,
          fmt::format("{}: the interval is {}", wanted, detail::interval_text(number, unit)));
    }
  }
  if (!candidate.objective) {
    add(candidate.why_not, fmt::format("{} is not known{}", options.objective,
                                       options.objective == "cost" ? "; " + option_word("price") +
                                                                         " gives what an hour costs"
                                                                   : ""));
  }
}

}  // namespace

std::vector<std::string> choice_numbers() {
  return {"accuracy", "p50", "p90", "p99", "throughput", "cold_start", "cost"};
}

std::string currency_of(const EvaluationCell& cell, double price_per_hour,
                        const std::string& currency) {
  if (price_per_hour > 0) return currency;
  for (const Measurement* record : cell.records) {
    if (std::string known = condition_of(*record, "currency"); !known.empty()) return known;
  }
  return "";
}

std::string unit_of_choice(const std::string& number) {
  if (number == "accuracy") return "1";
  if (number == "cost") return "";
  return number == "throughput" ? "sample/s" : "s";
}

std::optional<Estimate> choice_number(const EvaluationCell& cell, const std::string& number,
                                      double price_per_hour) {
  constexpr std::array<std::pair<const char*, double>, 3> kPercentiles = {
      {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}}};
  for (const auto& [name, quantile] : kPercentiles) {
    if (number == name) return cell.latency(quantile);
  }
  if (number == "accuracy") return EvaluationCell::estimate_of(cell.accuracy);
  if (number == "throughput") return cell.throughput();
  if (number == "cold_start") return EvaluationCell::estimate_of(cell.cold_start);
  if (number == "cost") return cost_of(cell, price_per_hour);
  throw_unknown_name("number of an evaluation", number, choice_numbers());
}

Requirement requirement_of(const std::string& number, const std::string& words) {
  const bool is_time = unit_of_choice(number) == "s";
  const auto fail = [&] {
    return ValueError(
        fmt::format("{} '{}': expected >= or <= and {}", number, printable(words),
                    is_time ? "a time with its unit, as \"<=50ms\"" : "a number, as \">=0.75\""));
  };
  Requirement required{.number = number};
  required.at_least = words.starts_with(">=");
  if (!required.at_least && !words.starts_with("<=")) throw fail();
  const char* begin = words.data() + 2;
  const char* const end = words.data() + words.size();
  while (begin != end && *begin == ' ') ++begin;
  const auto [rest, error] = std::from_chars(begin, end, required.limit);
  if (error != std::errc() || !std::isfinite(required.limit)) throw fail();
  const std::string unit(std::find_if(rest, end, [](char c) { return c != ' '; }), end);
  constexpr std::array<std::pair<const char*, double>, 6> kUnits = {
      {{"", 1.0}, {"%", 0.01}, {"s", 1.0}, {"ms", 1e-3}, {"us", 1e-6}, {"µs", 1e-6}}};
  const auto known =
      std::ranges::find_if(kUnits, [&](const auto& one) { return unit == one.first; });
  if (known == kUnits.end() || unit.ends_with('s') != is_time) throw fail();
  required.limit *= known->second;
  return required;
}

std::vector<Candidate> choose(std::span<const EvaluationCell> cells, const ChoiceOptions& options) {
  const auto names = names_of(cells);
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    Candidate candidate{.cell = cells[i], .name = names[i]};
    candidate.objective = choice_number(cells[i], options.objective, options.price_per_hour);
    judge(candidate, options);
    candidates.push_back(std::move(candidate));
  }
  const bool smallest = options.wish == ChoiceOptions::Wish::minimise;
  std::ranges::stable_sort(candidates, [&](const Candidate& a, const Candidate& b) {
    if (a.why_not.empty() != b.why_not.empty()) return a.why_not.empty();
    if (!a.objective || !b.objective) return a.objective.has_value() && !b.objective;
    return smallest ? a.objective->value < b.objective->value
                    : a.objective->value > b.objective->value;
  });
  return candidates;
}

TextTable choice_table(std::span<const Candidate> candidates, const ChoiceOptions& options) {
  using enum TextTable::Align;
  std::vector<std::string> numbers = {options.objective};
  for (const auto& required : options.requirements) {
    if (std::ranges::find(numbers, required.number) == numbers.end()) {
      numbers.push_back(required.number);
    }
  }
  std::vector<TextTable::Column> columns = {"choice", "what"};
  for (const auto& number : numbers) {
    columns.emplace_back(number == "cost" ? "cost of a million predictions" : number, right);
  }
  columns.emplace_back("why not, or doubt");
  TextTable table(std::move(columns));
  int place = 0;
  for (const Candidate& candidate : candidates) {
    const bool will_do = candidate.why_not.empty();
    std::vector<std::string> row = {will_do ? std::to_string(++place) : "-", candidate.name};
    for (const auto& number : numbers) {
      row.push_back(
          detail::value_text(choice_number(candidate.cell, number, options.price_per_hour),
                             unit_of(candidate.cell, number, options)));
    }
    row.push_back(will_do ? candidate.doubt : candidate.why_not);
    table.add(std::move(row));
  }
  return table;
}

}  // namespace d5
