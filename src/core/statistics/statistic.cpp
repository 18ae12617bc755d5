// SPDX-License-Identifier: Apache-2.0
// Names of statistics in files and tables.
#include <fmt/format.h>

#include <array>
#include <charconv>

#include "d5/core/statistics/statistics.hpp"

namespace d5 {
namespace {

/// In the order of `Statistic::Of`. Quantiles other than the median are "p" and a percentage.
constexpr std::array<std::string_view, 8> kNames = {"median", "mean", "maximum", "rate",
                                                    "share",  "last", "best",    "single"};

}  // namespace

std::string to_string(const Statistic& statistic) {
  if (statistic.of == Statistic::Of::quantile && statistic.quantile != 0.5) {
    return fmt::format("p{:.10g}", statistic.quantile * 100);
  }
  return std::string(kNames.at(std::size_t(statistic.of)));
}

std::optional<Statistic> statistic_from(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (name == kNames[i]) return Statistic{.of = Statistic::Of(i)};
  }
  if (!name.starts_with('p')) return std::nullopt;
  double percentage = 0;
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), percentage);
  if (error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  if (!(percentage > 0 && percentage < 100)) return std::nullopt;
  return Statistic{.of = Statistic::Of::quantile, .quantile = percentage / 100};
}

}  // namespace d5
