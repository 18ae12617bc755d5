// SPDX-License-Identifier: Apache-2.0
// Draws every plot of d5, for every format.
#include "core/report/plot_drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "core/report/label_places.hpp"
#include "core/report/mark_shapes.hpp"
#include "core/report/markup.hpp"
#include "core/report/palette.hpp"
#include "core/report/plot_layout.hpp"
#include "core/report/text_width.hpp"

namespace d5 {
namespace detail {
namespace {

using MarkShape = PlotMark::Shape;
constexpr double kLine = PlotLayout::kLine, kEdge = PlotLayout::kEdge;

std::string colour_of(const PlotMark& mark) {
  return fmt::format("halo s{}", mark.series % kSeriesColours);
}

class Drawing {
 public:
  Drawing(const Plot& plot, int width)
      : plot_(plot), width_(width), layout_(plot, width), height_(layout_.height) {}

  /// `before` precedes all drawn elements.
  std::string svg(const std::string& before) {
    frame();
    for (const auto& mark : plot_.marks) draw(mark);
    if (plot_.rows.empty()) {
      label_points();
    } else {
      label_rows();
      fill_cells();
    }
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" role=\"img\" "
               "viewBox=\"0 0 {0} {1:.0f}\" width=\"{0}\" height=\"{1:.0f}\" font-size=\"12\" "
               "font-family=\"Helvetica, Arial, sans-serif\"><title>{2}</title>{3}",
               width_, height_, escaped(plot_.title), before) +
           body_ + "</svg>\n";
  }

 private:
  void text(double x, double y, const std::string& words, const std::string& colour,
            const std::string& more = "") {
    body_ += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\" fill=\"currentColor\"{}>{}</text>", x, y,
        colour, more, escaped(words));
  }
  /// A text centred at `x`, or as near as the picture's edges permit. Returns its box.
  PixelBox centred_box(double x, double y, const std::string& words) const {
    const double width = text_width(words);
    return box_of_text(std::max(std::min(x - width / 2, width_ - kEdge - width), kEdge), y, width);
  }
  void grid_line(double x1, double y1, double x2, double y2) {
    body_ += fmt::format("<path class=\"grid\" stroke=\"currentColor\" d=\"M{} L{}\"/>", at(x1, y1),
                         at(x2, y2));
  }

  void frame() {
    double y = 15;
    for (const std::string& words : layout_.title) {
      text(kEdge, y, words, "ink",
           fmt::format(" font-size=\"{}\" font-weight=\"bold\"", PlotLayout::kTitleSize));
      y += kLine;
    }
    for (const std::string& words : layout_.note) {
      text(kEdge, y, words, "soft");
      y += kLine;
    }
    for (const auto& [series, x, baseline, words] : layout_.legend) {
      body_ += fmt::format("<path class=\"s{}\" fill=\"currentColor\" d=\"{}\"/>",
                           series % kSeriesColours, dot_at({x + 6, baseline - 4}, series));
      text(x + 14, baseline, words, "ink");
    }
    draw_upright_lines();
    const std::string title = fitted(layout_.x.title(), width_ - 2 * kEdge);
    const double baseline = layout_.bottom + 2.2 * kLine;
    text(centred_box((layout_.left + layout_.right) / 2, baseline, title).left, baseline, title,
         "soft");
    if (plot_.rows.empty()) draw_level_lines();
  }
  /// Draws the x axis's lines, and as many of their texts as have room.
  void draw_upright_lines() {
    constexpr double kGap = 6;
    const double baseline = layout_.bottom + kLine + 1;
    double free = 0;
    for (const auto& tick : layout_.x.ticks()) {
      const double x = layout_.x(tick.value);
      grid_line(x, layout_.top, x, layout_.bottom);
      const std::string words = fitted(tick.text, width_ - 2 * kEdge);
      const PixelBox box = centred_box(x, baseline, words);
      if (box.left < free) continue;
      text(box.left, baseline, words, "soft");
      free = box.right + kGap;
    }
  }
  void draw_level_lines() {
    if (!plot_.y.label.empty()) {
      text(kEdge, layout_.top - 10, fitted(layout_.y.title(), width_ - 2 * kEdge), "soft");
    }
    double free = layout_.bottom + kLine;  // from the lowest up
    for (const auto& tick : layout_.y.ticks()) {
      const double y = layout_.y(tick.value);
      grid_line(layout_.left, y, layout_.right, y);
      if (y > free) continue;
      text(layout_.left - 6, y + 4, fitted(tick.text, layout_.left - 6 - kEdge), "soft",
           " text-anchor=\"end\"");
      free = y - kLine;
    }
  }

  void draw(const PlotMark& mark) {
    const auto points = pixels_of(mark, layout_);
    const bool pairs = mark.shape == MarkShape::box || mark.shape == MarkShape::interval;
    if (points.empty() || (pairs && points.size() != mark.points.size())) return;
    body_ += fmt::format("<g class=\"s{}\">", mark.series % kSeriesColours);
    if (!mark.tip.empty()) body_ += "<title>" + escaped(mark.tip) + "</title>";
    body_ += paths_of(mark, points, layout_) + "</g>";
  }

  /// Names the rows, and places each label after its mark, if there is room.
  void label_rows() {
    std::vector<PixelBox> taken;
    for (const auto& mark : plot_.marks) {
      if (mark.label.empty() || mark.shape == MarkShape::text) continue;
      const auto points = pixels_of(mark, layout_);
      if (points.empty()) continue;
      const double x = std::ranges::max(points, {}, &Pixel::x).x + 7;
      const double y = (points.front().y + points.back().y) / 2 + 4;
      const std::string words = fitted(mark.label, width_ - kEdge - x);
      const PixelBox box = box_of_text(x, y, text_width(words));
      if (std::ranges::any_of(taken, [&](const auto& other) { return box.meets(other); })) continue;
      taken.push_back(box);
      text(x, y, words, "ink halo");
    }
    for (std::size_t row = 0; row < plot_.rows.size(); ++row) {
      text(kEdge, layout_.top_of_row(row) + 14,
           fitted_name(plot_.rows[row].label, width_ - 2 * kEdge), "ink halo");
    }
  }

  /// Writes the texts over cells, unless one of them has no room.
  void fill_cells() {
    struct Cell {
      PixelBox box;
      double baseline;
      const std::string* words;
    };
    std::vector<Cell> cells;
    for (const auto& mark : plot_.marks) {
      if (mark.shape != MarkShape::text || mark.label.empty()) continue;
      const auto points = pixels_of(mark, layout_);
      if (points.empty()) continue;
      const double width = text_width(mark.label), baseline = points.front().y + 4;
      const PixelBox box = box_of_text(points.front().x - width / 2, baseline, width);
      const auto meets = [&](const Cell& other) { return box.meets(other.box); };
      if (std::ranges::any_of(cells, meets)) return;
      if (box.left < kEdge || box.right > width_ - kEdge) return;
      cells.push_back({box, baseline, &mark.label});
    }
    for (const Cell& cell : cells) text(cell.box.left, cell.baseline, *cell.words, "ink halo");
  }

  struct PointLabel {
    const PlotMark* mark;
    Pixel point;
  };

  /// Labels points by their words, or by numbers with a key below the plot.
  void label_points() {
    std::vector<PointLabel> labels;
    std::vector<PixelBox> kept_free;
    for (const auto& mark : plot_.marks) {
      const auto points = pixels_of(mark, layout_);
      const double radius = radius_of(mark) * (mark.shape == MarkShape::disc ? 0.5 : 1);
      if (radius > 0) {
        for (const auto& [x, y] : points) {
          kept_free.push_back({x - radius, y - radius, x + radius, y + radius});
        }
      }
      if (!mark.label.empty() && !points.empty()) labels.push_back({&mark, points.back()});
    }
    if (labels.empty()) return;
    const auto words_of = [](const PlotMark& mark) { return mark.label; };
    if (place_labels(labels, kept_free, words_of, Missing::refuse)) return;
    std::map<std::string, std::size_t> numbers;
    std::vector<std::string> key;
    for (const auto& [mark, point] : labels) {
      if (!numbers.try_emplace(mark->label, numbers.size() + 1).second) continue;
      key.push_back(fmt::format("{} {}", numbers.size(), mark->label));
    }
    const auto number_of = [&](const PlotMark& mark) {
      return fmt::format("{}", numbers.at(mark.label));
    };
    // The last resort covers other points.
    if (!place_labels(labels, kept_free, number_of, Missing::refuse)) {
      place_labels(labels, {}, number_of, Missing::omit);
    }
    draw_key(key);
  }

  enum class Missing { refuse, omit };
  /// Returns false, and draws nothing, if a label without room is refused.
  template <class Words>
  bool place_labels(const std::vector<PointLabel>& labels, const std::vector<PixelBox>& kept_free,
                    const Words& words_of, Missing missing) {
    LabelPlaces places({layout_.left, layout_.top, width_ - kEdge, layout_.bottom}, kept_free);
    std::vector<std::optional<LabelPlaces::Place>> found;
    for (const auto& [mark, point] : labels) {
      found.push_back(places.add(point, radius_of(*mark), text_width(words_of(*mark))));
      if (!found.back() && missing == Missing::refuse) return false;
    }
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (!found[i]) continue;
      const auto& [mark, point] = labels[i];
      if (const auto leader = found[i]->leader) {
        body_ += fmt::format("<path class=\"soft\" stroke=\"currentColor\" d=\"M{} L{}\"/>",
                             at(point.x, point.y), at(leader->x, leader->y));
      }
      text(found[i]->x, found[i]->y, words_of(*mark), colour_of(*mark));
    }
    return true;
  }

  /// Lists what the numbers stand for, in columns below the plot.
  void draw_key(const std::vector<std::string>& key) {
    constexpr double kBetween = 18;
    const double room = width_ - 2 * kEdge;
    double longest = 0;
    for (const auto& words : key) longest = std::max(longest, text_width(words));
    const double column = std::min(longest + kBetween, room);
    const auto columns = std::max<std::size_t>(1, std::size_t((room + kBetween) / column));
    const std::size_t lines = (key.size() + columns - 1) / columns;
    for (std::size_t i = 0; i < key.size(); ++i) {
      text(kEdge + column * double(i / lines), height_ + kLine * (1 + double(i % lines)),
           fitted(key[i], room), "ink");
    }
    height_ += kLine * (double(lines) + 0.8);
  }

  const Plot& plot_;
  int width_;
  PlotLayout layout_;
  double height_;
  std::string body_;
};

}  // namespace

std::string drawn(const Plot& plot, int width) { return Drawing(plot, width).svg(""); }

std::string drawn_key(std::size_t series) {
  return fmt::format(
      "<svg class=\"plot\" aria-hidden=\"true\" viewBox=\"0 0 12 12\" width=\"12\" "
      "height=\"12\"><path class=\"s{}\" fill=\"currentColor\" d=\"{}\"/></svg>",
      series % kSeriesColours, dot_at({6, 6}, series));
}

}  // namespace detail

std::string to_svg(const Plot& plot, int width) {
  constexpr int kNarrowest = 200;
  return detail::Drawing(plot, std::max(width, kNarrowest))
      .svg("<style>" + detail::colour_rules() + "</style>" + detail::background());
}

}  // namespace d5
