// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "d5/core/results/measurement.hpp"
#include "d5/core/results/results.hpp"
#include "d5/level3_distributed/schemes/communication_volume.hpp"

namespace d5 {
namespace {

/// The numbers of the conditions "PREFIX.KEY", by key.
std::map<std::string, double> numbers_below(const Measurement& record, const std::string& prefix) {
  std::map<std::string, double> numbers;
  for (const auto& [name, condition] : record.conditions) {
    if (name.starts_with(prefix)) {
      numbers[name.substr(prefix.size())] = condition.number().value_or(0);
    }
  }
  return numbers;
}

std::size_t number_in(const Measurement& record, const std::string& condition) {
  return std::size_t(condition_number(record, condition).value_or(0));
}

/// A matrix with one cell per pair of ranks, filled in proportion to the largest; the last column
/// is for collectives.
Plot matrix_of(const std::vector<const Measurement*>& ranks) {
  Plot plot{.name = "volume-matrix",
            .title = "Bytes sent by rank and receiver: " + ranks.front()->subject,
            .note = "Cells are filled in proportion to the largest; all: collectives.",
            .x = {.label = "to rank", .scale = PlotAxis::Scale::whole}};
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    plot.x.names.push_back(std::to_string(rank));
  }
  plot.x.names.emplace_back("all");
  double largest = 0;
  for (const auto* record : ranks) {
    for (const auto& [peer, bytes] : numbers_below(*record, "sent_to.")) {
      largest = std::max(largest, bytes);
    }
  }
  for (const auto* record : ranks) {
    const auto row = static_cast<double>(plot.rows.size());
    const std::size_t rank = number_in(*record, "rank");
    plot.rows.push_back({fmt::format("from rank {}", rank)});
    for (const auto& [peer, bytes] : numbers_below(*record, "sent_to.")) {
      const bool to_all = peer == "all";
      const double x =
          to_all ? static_cast<double>(ranks.size()) : std::strtod(peer.c_str(), nullptr);
      const double height = largest > 0 ? 0.9 * bytes / largest : 0;
      const std::string text = with_prefix(bytes, "byte");
      plot.marks.push_back(
          {.shape = PlotMark::Shape::box,
           .series = to_all ? std::size_t{1} : std::size_t{0},
           .points = {{x - 0.45, row + 0.95 - height}, {x + 0.45, row + 0.95}},
           .tip = fmt::format("rank {} to {}: {}", rank,
                              to_all ? "all, in collectives" : "rank " + peer, text)});
      plot.marks.push_back(
          {.shape = PlotMark::Shape::text, .points = {{x, row + 0.5}}, .label = text});
      plot.series.resize(std::max<std::size_t>(plot.series.size(), to_all ? 2 : 1));
      plot.series[to_all ? 1 : 0] = to_all ? "in collectives" : "to that rank";
    }
  }
  return plot;
}

/// Histogram of message sizes over all ranks.
Plot sizes_of(const std::vector<const Measurement*>& ranks) {
  Plot plot{
      .name = "volume-sizes",
      .title = "Calls by bytes sent: " + ranks.front()->subject,
      .note = "All ranks; each bin is from a size to twice the size.",
      .x = {.label = "bytes of a call", .unit = "byte", .scale = PlotAxis::Scale::logarithmic},
      .y = {.label = "calls"}};
  std::map<double, double> calls;
  for (const auto* record : ranks) {
    for (const auto& [bytes, number] : numbers_below(*record, "calls_of_bytes.")) {
      calls[std::strtod(bytes.c_str(), nullptr)] += number;
    }
  }
  for (const auto& [bytes, number] : calls) {
    plot.marks.push_back(
        {.shape = PlotMark::Shape::box,
         .points = {{bytes, 0}, {2 * bytes, number}},
         .tip = fmt::format("{} calls from {}", number, with_prefix(bytes, "byte"))});
  }
  return plot;
}

}  // namespace

std::vector<Plot> volume_plots(const std::vector<Measurement>& records) {
  std::vector<Plot> plots;
  std::vector<const Measurement*> ranks;
  const auto draw = [&] {
    const bool sent = std::ranges::any_of(ranks, [](const auto* record) {
      return !numbers_below(*record, "calls_of_bytes.").empty();
    });
    if (sent) {
      plots.push_back(matrix_of(ranks));
      plots.push_back(sizes_of(ranks));
    }
    ranks.clear();
  };
  // The records of one job are consecutive, from rank 0 on.
  for (const Measurement& record : records) {
    if (record.metric != "communication_volume") continue;
    if (number_in(record, "rank") != ranks.size()) draw();
    ranks.push_back(&record);
  }
  draw();
  return plots;
}

}  // namespace d5
