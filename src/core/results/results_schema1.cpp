// SPDX-License-Identifier: Apache-2.0
#include "core/results/results_schema1.hpp"

#include <array>

namespace d5::detail {
namespace {

struct Renamed {
  std::string_view before, now;
};
constexpr std::array<Renamed, 3> kMetrics = {
    {{"relative error", "error"}, {"flop rate", "flop_rate"}, {"sample rate", "sample_rate"}}};

/// The quantity, from the names and units of schema 1's metrics.
Quantity quantity_of(const Measurement& m) {
  if (m.unit == "s") return Quantity::time;
  if (m.unit == "J") return Quantity::energy;
  if (m.unit == "byte") return Quantity::bytes;
  if (m.unit.ends_with("/s")) return Quantity::rate;
  if (m.metric == "error") return Quantity::error;
  if (m.metric == "loss") return Quantity::loss;
  if (m.metric.ends_with("accuracy")) return Quantity::accuracy;
  if (m.metric.ends_with("_ratio")) return Quantity::ratio;
  return Quantity::other;
}

}  // namespace

void from_schema1(Measurement& m) {
  for (const auto& [before, now] : kMetrics) {
    if (m.metric == before) m.metric = now;
  }
  constexpr std::string_view kRatio = "time ratio to ";
  if (m.metric.starts_with(kRatio)) {
    m.conditions["base"] = identity(m.metric.substr(kRatio.size()));
    m.metric = "time_ratio";
  }
  if (const auto output = m.conditions.find("output"); output != m.conditions.end()) {
    m.conditions["tensor"] = identity("output " + output->second.text());
    m.conditions.erase(output);
  }
  m.quantity = quantity_of(m);
}

}  // namespace d5::detail
