// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "core/results/scaled_unit.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/report/result_printer.hpp"
#include "d5/core/results/results.hpp"

namespace d5 {

std::string to_table(const std::vector<Measurement>& measurements, Screen screen) {
  return to_text({{}, measurements}, Format::table, screen);
}

std::string to_markdown(const std::vector<Measurement>& measurements) {
  return to_text({{}, measurements}, Format::markdown);
}

std::string to_text(const Results& results, Format format, Screen screen) {
  ResultPrinter printer(results.environment, format, screen);
  const std::string text = printer.add(results.measurements);
  return text + printer.end(results.environment);
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

int exit_status(const std::vector<Measurement>& measurements, IfUnsupported if_unsupported) {
  return std::ranges::any_of(measurements, [&](const Measurement& m) {
    return m.status == Status::failed ||
           (m.status == Status::unsupported && if_unsupported == IfUnsupported::fail);
  });
}

}  // namespace d5
