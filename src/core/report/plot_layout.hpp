// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/report/axis_scale.hpp"

namespace d5::detail {

/// Positions of a plot's parts, in pixels.
class PlotLayout {
 public:
  struct LegendEntry {
    std::size_t series;
    double x, y;
    std::string text;
  };
  static constexpr double kLine = 16;         ///< line spacing
  static constexpr double kTitleSize = 14;    ///< font size of the title, which is bold
  static constexpr double kEdge = 2;          ///< margin of texts
  static constexpr double kLargestDisc = 20;  ///< radius of a disc of weight 1

  PlotLayout(const Plot& plot, int width);

  [[nodiscard]] double y_of(double value) const;
  [[nodiscard]] std::size_t rows() const { return row_tops_.size(); }
  [[nodiscard]] double top_of_row(std::size_t row) const { return row_tops_[row]; }
  /// The row's area below its name.
  [[nodiscard]] Extent lanes_of_row(std::size_t row) const;

  double left, right, top = 0, bottom = 0;  ///< plot area
  double height = 0;                        ///< total height
  std::vector<std::string> title, note;     ///< their lines
  std::vector<LegendEntry> legend;
  AxisScale x, y;

 private:
  void place_text(const Plot& plot, int width);
  std::vector<double> row_tops_, row_heights_;
};

}  // namespace d5::detail
