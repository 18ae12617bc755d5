// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

namespace d5::detail {

struct Pixel {
  double x, y;
};

struct PixelBox {
  double left, top, right, bottom;

  [[nodiscard]] bool meets(const PixelBox& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
  [[nodiscard]] bool holds(Pixel p) const {
    return left < p.x && p.x < right && top < p.y && p.y < bottom;
  }
};

/// The box of a line of text that begins at `x` on the baseline `y`.
[[nodiscard]] PixelBox box_of_text(double x, double y, double width);

/// Places labels beside points, without overlaps: beside or above the point if there is room,
/// otherwise farther away, at the end of a leader line.
class LabelPlaces {
 public:
  /// `kept_free`: boxes that no label covers, such as the points themselves.
  LabelPlaces(PixelBox frame, std::vector<PixelBox> kept_free)
      : frame_(frame), kept_free_(std::move(kept_free)) {}

  struct Place {
    double x, y;                  ///< begin of the text's baseline
    std::optional<Pixel> leader;  ///< end of a line from the point
  };
  /// Nothing if there is no room. `radius` is that of the point's mark.
  [[nodiscard]] std::optional<Place> add(Pixel point, double radius, double width);

 private:
  struct Line {
    Pixel from, to;
  };
  [[nodiscard]] bool is_free(const PixelBox& box, const std::optional<Line>& leader) const;

  PixelBox frame_;
  std::vector<PixelBox> kept_free_, labels_;
  std::vector<Line> leaders_;
};

}  // namespace d5::detail
