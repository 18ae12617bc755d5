// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/results/result_cells.hpp"
#include "d5/core/numbers/byte_count.hpp"
#include "d5/core/results/pivot.hpp"
#include "d5/core/results/results.hpp"
#include "d5/core/tables/wrapped_text.hpp"
#include "d5/level3_distributed/collectives/collective_bench.hpp"

namespace d5 {
namespace {

/// The records of a bench by size, algorithm and metric.
class CollectiveRecords {
 public:
  explicit CollectiveRecords(const std::vector<Measurement>& records) {
    for (const Measurement& record : records) {
      const auto size = condition_number(record, "size");
      if (!size || record.quantity == Quantity::ratio) continue;
      const std::size_t space = record.subject.find(' ');
      kind_ = record.subject.substr(0, space);
      const std::string algorithm =
          space == record.subject.npos ? "" : record.subject.substr(space + 1);
      if (std::ranges::find(algorithms_, algorithm) == algorithms_.end())
        algorithms_.push_back(algorithm);
      sizes_.insert(std::int64_t(*size));
      by_place_[{std::int64_t(*size), algorithm, record.metric}] = &record;
      if (ranks_.empty()) ranks_ = condition_of(record, "ranks");
    }
  }

  [[nodiscard]] const std::vector<std::string>& algorithms() const { return algorithms_; }
  [[nodiscard]] std::string title() const {
    const std::string which = algorithms_.size() == 1 ? " " + algorithms_[0] : "";
    return fmt::format("{}{} of float32 on {} ranks; the time is that of the slowest rank\n", kind_,
                       which, ranks_);
  }

  /// A line a size.
  [[nodiscard]] TextTable lines() const {
    TextTable table({right("size"), right("elements"), right("time"), right("95% interval"),
                     right("algorithm bandwidth"), right("bus bandwidth"), "status"});
    for (const std::int64_t size : sizes_) {
      const Measurement* time = at(size, algorithms_[0], "time");
      table.add({byte_words(std::size_t(size)), std::to_string(size / std::int64_t{sizeof(float)}),
                 detail::starred_value(time), time ? detail::numbers_of(*time).interval : "",
                 detail::starred_value(at(size, algorithms_[0], "algorithm_bandwidth")),
                 detail::starred_value(at(size, algorithms_[0], "bus_bandwidth")),
                 time ? std::string(name_of(time->status)) : ""});
    }
    return table;
  }

  /// Sizes by algorithms.
  [[nodiscard]] TextTable table_of(const std::string& metric, const std::string& title) const {
    std::vector<TextTable::Column> columns{right(title)};
    for (const std::string& algorithm : algorithms_) columns.push_back(right(algorithm));
    columns.emplace_back("fastest");
    TextTable table(std::move(columns));
    for (const std::int64_t size : sizes_) {
      std::vector<std::string> row{byte_words(std::size_t(size))};
      for (const std::string& algorithm : algorithms_) {
        row.push_back(detail::starred_value(at(size, algorithm, metric)));
      }
      row.push_back(fastest(size));
      table.add(std::move(row));
    }
    return table;
  }

 private:
  static TextTable::Column right(const std::string& title) {
    return {title, TextTable::Align::right};
  }

  [[nodiscard]] const Measurement* at(std::int64_t size, const std::string& algorithm,
                                      const std::string& metric) const {
    const auto place = by_place_.find({size, algorithm, metric});
    return place == by_place_.end() ? nullptr : place->second;
  }

  [[nodiscard]] std::string fastest(std::int64_t size) const {
    std::string name;
    double least = 0;
    for (const std::string& algorithm : algorithms_) {
      const Measurement* time = at(size, algorithm, "time");
      if (!time || time->samples.empty() || answers_wrongly(*time)) continue;
      const double seconds = estimate(*time).value;
      if (name.empty() || seconds < least) std::tie(name, least) = std::pair(algorithm, seconds);
    }
    return name;
  }

  std::string kind_, ranks_;
  std::vector<std::string> algorithms_;
  std::set<std::int64_t> sizes_;
  std::map<std::tuple<std::int64_t, std::string, std::string>, const Measurement*> by_place_;
};

}  // namespace

std::string collective_text(const std::vector<Measurement>& records, Format format, int width) {
  const CollectiveRecords all(records);
  if (all.algorithms().empty()) return "";
  std::string text = wrapped(all.title(), width) + "\n";
  if (all.algorithms().size() == 1) {
    text += all.lines().to_text(format, width);
  } else {
    text += all.table_of("time", "time").to_text(format, width) + "\n" +
            all.table_of("bus_bandwidth", "bus bandwidth").to_text(format, width);
  }
  const std::string notes = pivot_notes(records);
  return notes.empty() ? text : text + "\n" + wrapped(notes, width);
}

}  // namespace d5
