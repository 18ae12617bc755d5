// SPDX-License-Identifier: Apache-2.0
#include "level2_training/optimization/shared/line_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace d5::detail {
namespace {

/// Where the cubic through two points with their slopes is least, within [least, most].
///
/// Source: Nocedal and Wright, equation 3.59.
double cubic_minimum(const LinePoint& one, const LinePoint& other, double least, double most) {
  const auto& [a, b] = one.t <= other.t ? std::pair<const LinePoint&, const LinePoint&>(one, other)
                                        : std::pair<const LinePoint&, const LinePoint&>(other, one);
  const double d1 = one.slope + other.slope - 3 * (one.value - other.value) / (one.t - other.t);
  const double square = d1 * d1 - one.slope * other.slope;
  const double middle = (least + most) / 2;
  if (!(square >= 0)) return middle;
  const double d2 = std::sqrt(square);
  const double t = b.t - (b.t - a.t) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2));
  return std::isfinite(t) ? std::clamp(t, least, most) : middle;
}

/// One search.
class Search {
 public:
  Search(const std::function<LinePoint(double)>& at, const LinePoint& start, const LineSearch& how)
      : at_(at), start_(start), how_(how) {}

  LinePoint run(double first) {
    LinePoint before = start_, now = ask(first);
    for (int step = 0;; ++step) {
      if (step == how_.most) return now.value < start_.value ? now : start_;
      if (!decreases(now) || (step > 1 && now.value >= before.value)) break;
      if (is_flat(now)) return now;
      if (now.slope >= 0) break;
      const double near = now.t + 0.01 * (now.t - before.t), far = 10 * now.t;
      const double next = cubic_minimum(before, now, near, far);
      before = std::move(now);
      now = ask(next);
      steps_ = step + 1;
    }
    return zoom(std::move(before), std::move(now));
  }

 private:
  LinePoint ask(double t) {
    LinePoint point = at_(t);
    if (!std::isfinite(point.value)) point.value = std::numeric_limits<double>::infinity();
    return point;
  }
  [[nodiscard]] bool decreases(const LinePoint& point) const {
    return point.value <= start_.value + how_.decrease * point.t * start_.slope;
  }
  [[nodiscard]] bool is_flat(const LinePoint& point) const {
    return std::abs(point.slope) <= -how_.curvature * start_.slope;
  }

  LinePoint zoom(LinePoint low, LinePoint high) {
    if (!(low.value <= high.value)) std::swap(low, high);
    bool near_an_end = false;
    for (; steps_ < how_.most; ++steps_) {
      const auto [least, most] = std::minmax(low.t, high.t);
      if (most - least < how_.least_width) break;
      LinePoint now =
          ask(away_from_ends(cubic_minimum(low, high, least, most), least, most, near_an_end));
      if (!decreases(now) || now.value >= low.value) {
        high = std::move(now);
        if (!(low.value <= high.value)) std::swap(low, high);
        continue;
      }
      if (is_flat(now)) return now;
      if (now.slope * (high.t - low.t) >= 0) high = low;
      low = std::move(now);
    }
    return low;
  }

  /// Within a tenth of the width of an end only once, and never at it.
  static double away_from_ends(double t, double least, double most, bool& near_an_end) {
    const double margin = 0.1 * (most - least);
    if (std::min(most - t, t - least) >= margin) {
      near_an_end = false;
      return t;
    }
    if (!near_an_end && t < most && t > least) {
      near_an_end = true;
      return t;
    }
    near_an_end = false;
    return std::abs(t - most) < std::abs(t - least) ? most - margin : least + margin;
  }

  const std::function<LinePoint(double)>& at_;
  const LinePoint& start_;
  const LineSearch& how_;
  int steps_ = 0;
};

}  // namespace

LinePoint search_line(const std::function<LinePoint(double t)>& at, const LinePoint& start,
                      double first, const LineSearch& how) {
  return Search(at, start, how).run(first);
}

}  // namespace d5::detail
