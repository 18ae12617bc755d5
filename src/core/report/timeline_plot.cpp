// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "d5/core/report/report.hpp"
#include "d5/core/results/results.hpp"

namespace d5 {
namespace {

using MarkShape = PlotMark::Shape;
constexpr std::size_t kMostLanes = 8;  // limit of nested spans
constexpr double kNanosecond = 1e-9;

/// The rows of a timeline: the lanes of each rank, and additional ones for overlapping spans.
class Rows {
 public:
  explicit Rows(const Timeline& timeline) {
    for (const auto& lane : timeline.lanes) names_[{lane.rank, lane.number}] = lane.name;
  }
  /// The row, and the lane in it that is free from the record's begin on.
  std::pair<std::size_t, std::size_t> place(const TraceRecord& record) {
    const bool overlapping = record.kind == TraceRecord::Kind::overlapping;
    const Key key{record.rank, record.lane, overlapping};
    const auto [row, is_new] = rows_.try_emplace(key, rows_.size());
    if (is_new) ends_.emplace_back();
    auto& ends = ends_[row->second];
    // Spans are sorted by begin, the longest first, so open spans enclose this one.
    auto free =
        std::ranges::find_if(ends, [&](std::int64_t end) { return end <= record.begin_ns; });
    if (!overlapping) free = ends.erase(free, ends.end());
    if (free == ends.end()) free = ends.insert(free, 0);
    *free = record.end_ns;
    const auto lane = std::size_t(free - ends.begin());
    lanes_.resize(rows_.size());
    lanes_[row->second] = std::max(lanes_[row->second], std::min(lane + 1, kMostLanes));
    return {row->second, lane};
  }
  [[nodiscard]] std::vector<PlotRow> rows() const {
    std::vector<PlotRow> result(rows_.size());
    for (const auto& [key, row] : rows_) {
      const auto [rank, lane, overlapping] = key;
      const auto name = names_.find({rank, lane});
      result[row] = {fmt::format("rank {}, {}{}", rank,
                                 name == names_.end() ? fmt::format("lane {}", lane) : name->second,
                                 overlapping ? ", under way" : ""),
                     lanes_[row]};
    }
    return result;
  }

 private:
  using Key = std::tuple<int, int, bool>;
  std::map<std::pair<int, int>, std::string> names_;
  std::map<Key, std::size_t> rows_;
  std::vector<std::vector<std::int64_t>> ends_;  // ends of open spans, by row
  std::vector<std::size_t> lanes_;
};

/// A span, or several that are too close to distinguish.
struct Drawn {
  std::size_t row, lane, series;
  std::int64_t begin_ns, end_ns;
  std::string name;
  std::size_t count = 1;
};

}  // namespace

Plot timeline_plot(const Timeline& timeline) {
  Plot plot{.name = "timeline", .title = "Timeline", .x = {.label = "time", .unit = "s"}};
  std::int64_t begin = 0, end = 0;
  bool any = false;
  for (const auto& record : timeline.records) {
    if (record.kind == TraceRecord::Kind::counter) continue;
    begin = any ? std::min(begin, record.begin_ns) : record.begin_ns;
    end = any ? std::max(end, record.end_ns) : record.end_ns;
    any = true;
  }
  constexpr std::int64_t kColumns = 1000;  // the finest resolution of a page
  const std::int64_t column = std::max<std::int64_t>((end - begin) / kColumns, 1);

  Rows rows(timeline);
  std::vector<Drawn> spans;
  std::map<std::tuple<std::size_t, std::size_t, std::size_t>, std::size_t> latest;
  for (const auto& record : timeline.records) {
    if (record.kind == TraceRecord::Kind::counter) continue;
    const auto [row, lane] = rows.place(record);
    if (lane >= kMostLanes) continue;
    const auto level = std::ranges::find(plot.series, record.level);
    const auto series = std::size_t(level - plot.series.begin());
    if (level == plot.series.end()) plot.series.push_back(record.level);
    const auto [place, is_new] = latest.try_emplace({row, lane, series}, spans.size());
    if (!is_new) {
      Drawn& before = spans[place->second];
      const bool short_ones = record.end_ns - record.begin_ns < column;
      if (short_ones && record.begin_ns - before.end_ns < column) {
        before.end_ns = std::max(before.end_ns, record.end_ns);
        ++before.count;
        continue;
      }
      place->second = spans.size();
    }
    spans.push_back({row, lane, series, record.begin_ns, record.end_ns, record.name});
  }
  plot.rows = rows.rows();
  for (const auto& span : spans) {
    const double lanes = double(plot.rows[span.row].lanes);
    const double top = double(span.row) + (double(span.lane) + 0.06) / lanes;
    const double from = double(span.begin_ns - begin) * kNanosecond;
    const double to = double(span.end_ns - begin) * kNanosecond;
    plot.marks.push_back(
        {.shape = MarkShape::box,
         .series = span.series,
         .points = {{from, top}, {to, top + 0.88 / lanes}},
         .tip = fmt::format("{}{}, {}", span.name,
                            span.count > 1 ? fmt::format(" and {} more", span.count - 1) : "",
                            with_prefix(to - from, "s"))});
  }
  if (!timeline.cut_off.empty()) {
    plot.note +=
        fmt::format("{}The run was cut off: {}.", plot.note.empty() ? "" : " ", timeline.cut_off);
  }
  for (const auto& rank : timeline.ranks) {
    if (rank.dropped == 0) continue;
    plot.note += fmt::format("{}The first {} records of rank {} had no room in the trace.",
                             plot.note.empty() ? "" : " ", rank.dropped, rank.rank);
  }
  return plot;
}

}  // namespace d5
