// SPDX-License-Identifier: Apache-2.0
#include "core/report/label_places.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/report/text_width.hpp"

namespace d5::detail {
namespace {

constexpr double kAscent = 0.78 * kTextSize, kDescent = 0.24 * kTextSize;

/// Whether the line passes through the box.
bool crosses(Pixel from, Pixel to, const PixelBox& box) {
  constexpr int kSteps = 24;
  for (int i = 0; i <= kSteps; ++i) {
    const double share = double(i) / kSteps;
    if (box.holds({from.x + share * (to.x - from.x), from.y + share * (to.y - from.y)})) {
      return true;
    }
  }
  return false;
}

/// The box's nearest place to the point.
Pixel nearest(const PixelBox& box, Pixel point) {
  return {std::clamp(point.x, box.left, box.right), std::clamp(point.y, box.top, box.bottom)};
}

}  // namespace

PixelBox box_of_text(double x, double y, double width) {
  return {x, y - kAscent, x + width, y + kDescent};
}

bool LabelPlaces::is_free(const PixelBox& box, const std::optional<Line>& leader) const {
  if (box.left < frame_.left || box.right > frame_.right || box.top < frame_.top ||
      box.bottom > frame_.bottom) {
    return false;
  }
  constexpr double kGap = 1.5;
  const PixelBox wide{box.left - kGap, box.top - kGap, box.right + kGap, box.bottom + kGap};
  const auto is_hit = [&](const PixelBox& other) { return wide.meets(other); };
  if (std::ranges::any_of(labels_, is_hit) || std::ranges::any_of(kept_free_, is_hit)) return false;
  if (std::ranges::any_of(leaders_, [&](const Line& l) { return crosses(l.from, l.to, wide); })) {
    return false;
  }
  return !leader || std::ranges::none_of(labels_, [&](const PixelBox& label) {
    return crosses(leader->from, leader->to, label);
  });
}

std::optional<LabelPlaces::Place> LabelPlaces::add(Pixel point, double radius, double width) {
  // Directions in the order of preference: right and left, above and below, then between.
  constexpr std::array<Pixel, 12> kDirections = {{{1, 0},
                                                  {-1, 0},
                                                  {0, -1},
                                                  {0, 1},
                                                  {0.8, -0.6},
                                                  {0.8, 0.6},
                                                  {-0.8, -0.6},
                                                  {-0.8, 0.6},
                                                  {0.4, -0.9},
                                                  {0.4, 0.9},
                                                  {-0.4, -0.9},
                                                  {-0.4, 0.9}}};
  constexpr std::array kDistances = {3.0, 9.0, 17.0, 28.0, 42.0, 60.0, 82.0};
  constexpr double kWithoutLeader = 9;
  for (const double distance : kDistances) {
    for (const auto& [dx, dy] : kDirections) {
      const double half_width = width / 2, half_height = (kAscent + kDescent) / 2;
      const double away = radius + distance;
      const Pixel centre{point.x + dx * away +
                             (dx > 0   ? 1
                              : dx < 0 ? -1
                                       : 0) *
                                 half_width,
                         point.y + dy * away +
                             (dy > 0   ? 1
                              : dy < 0 ? -1
                                       : 0) *
                                 half_height};
      const PixelBox box{centre.x - half_width, centre.y - half_height, centre.x + half_width,
                         centre.y + half_height};
      std::optional<Line> leader;
      if (distance > kWithoutLeader) leader = Line{point, nearest(box, point)};
      if (!is_free(box, leader)) continue;
      labels_.push_back(box);
      Place place{box.left, box.top + kAscent, std::nullopt};
      if (leader) {
        leaders_.push_back(*leader);
        place.leader = leader->to;
      }
      return place;
    }
  }
  return std::nullopt;
}

}  // namespace d5::detail
