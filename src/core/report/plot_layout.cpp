// SPDX-License-Identifier: Apache-2.0
#include "core/report/plot_layout.hpp"

#include <algorithm>
#include <cmath>

#include "core/report/text_width.hpp"

namespace d5::detail {
namespace {

constexpr double kRowLabel = 20, kLane = 18, kAfterRow = 6;

Extent extent_of(const Plot& plot, const PlotAxis& axis, double PlotPoint::* coordinate) {
  Extent extent;
  for (const auto& mark : plot.marks) {
    for (const auto& point : mark.points) {
      const double value = point.*coordinate;
      if (axis.scale != PlotAxis::Scale::logarithmic || value > 0) extent.include(value);
    }
  }
  return extent;
}

double plot_height(int width) { return std::clamp(0.5 * width, 190.0, 320.0); }

int ticks_in(double pixels, double each) { return std::max(2, int(pixels / each)); }

/// Keeps discs at the ends of an axis within the plot.
double room_for_discs(const Plot& plot) {
  const bool any = std::ranges::any_of(
      plot.marks, [](const PlotMark& mark) { return mark.shape == PlotMark::Shape::disc; });
  return any ? PlotLayout::kLargestDisc : 0;
}

AxisScale upright_axis(const Plot& plot, double bottom, double top) {
  const double inset = room_for_discs(plot);
  return {plot.y, extent_of(plot, plot.y, &PlotPoint::y), bottom - inset, top + inset,
          ticks_in(bottom - top, 45)};
}

/// Width of the y axis's numbers; with rows, half a tick label of the x axis.
double room_for_ticks(const Plot& plot, int width) {
  if (!plot.rows.empty()) return 24;
  double longest = 0;
  const AxisScale axis = upright_axis(plot, plot_height(width), 0);
  for (const auto& tick : axis.ticks()) longest = std::max(longest, text_width(tick.text));
  return 10 + std::min(longest, 0.4 * width);
}

/// Width of the labels beside bars, after the longest.
double room_for_labels(const Plot& plot, int width) {
  if (plot.rows.empty()) return 14;
  double longest = 0;
  for (const auto& mark : plot.marks) {
    if (mark.shape == PlotMark::Shape::text) continue;  // over its point
    longest = std::max(longest, text_width(mark.label));
  }
  return std::min(14 + longest, 0.4 * width);
}

}  // namespace

PlotLayout::PlotLayout(const Plot& plot, int width)
    : left(room_for_ticks(plot, width)),
      right(width - room_for_labels(plot, width)),
      x(plot.x, extent_of(plot, plot.x, &PlotPoint::x), left + room_for_discs(plot),
        right - room_for_discs(plot), ticks_in(right - left, 80)),
      y({}, {}, 0, 1, 2) {
  place_text(plot, width);
  if (plot.rows.empty()) {
    if (!plot.y.label.empty()) top += kLine + 6;  // above its axis
    bottom = top + plot_height(width);
    y = upright_axis(plot, bottom, top);
  } else {
    bottom = top;
    for (const auto& row : plot.rows) {
      row_tops_.push_back(bottom);
      row_heights_.push_back(kLane * double(row.lanes));
      bottom += kRowLabel + row_heights_.back() + kAfterRow;
    }
  }
  height = bottom + 2.6 * kLine;
}

void PlotLayout::place_text(const Plot& plot, int width) {
  const double room = width - 2 * kEdge;
  title = lines_of(plot.title, room, kTitleSize * kBold);
  top = kLine * double(std::max<std::size_t>(title.size(), 1)) + 6;
  note = lines_of(plot.note, room);
  top += kLine * double(note.size());
  constexpr double kKey = 14, kAfter = 16;
  double at = kEdge;
  for (std::size_t series = 0; series < plot.series.size(); ++series) {
    if (plot.series[series].empty()) continue;
    std::string name = fitted(plot.series[series], room - kKey);
    const double needed = kKey + text_width(name);
    if (at > kEdge && at + needed > kEdge + room) {
      at = kEdge;
      top += kLine;
    }
    legend.push_back({series, at, top + 12, std::move(name)});
    at += needed + kAfter;
  }
  top += legend.empty() ? 4 : kLine + 8;
}

Extent PlotLayout::lanes_of_row(std::size_t row) const {
  const double lanes = row_tops_[row] + kRowLabel;
  return {lanes, lanes + row_heights_[row]};
}

double PlotLayout::y_of(double value) const {
  if (row_tops_.empty()) return y(value);
  const double last = double(row_tops_.size()) - 1;
  const double row = std::clamp(std::floor(value), 0.0, last);
  return row_tops_[std::size_t(row)] + kRowLabel + (value - row) * row_heights_[std::size_t(row)];
}

}  // namespace d5::detail
