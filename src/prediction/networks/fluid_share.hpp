// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace d5::detail {

/// A fluid model of work that shares a medium: each piece runs at full speed while the sum of
/// shares is at most 1; otherwise all slow down by the same factor.
/// Units: s.
template <class Thing>
class FluidShare {
 public:
  /// Adds work that takes `seconds` and `share` of the medium when alone. `now` must not be before
  /// an earlier `now`, nor before the end of a piece that was taken.
  void add(Thing thing, double seconds, double share, double now) {
    go_on(now);
    works_.push_back({std::move(thing), seconds, share});
  }
  [[nodiscard]] bool empty() const { return works_.empty(); }
  /// End time of the next piece, if none is added before; infinite: none.
  [[nodiscard]] double next() const {
    return empty() ? std::numeric_limits<double>::infinity() : now_ + first()->seconds * slowdown();
  }
  /// Removes the piece that ends then; the first added among equals.
  Thing take() {
    const auto place = works_.begin() + (first() - works_.begin());
    now_ += go_on_by(place->seconds);
    Thing thing = std::move(place->thing);
    works_.erase(place);
    return thing;
  }

 private:
  struct Work {
    Thing thing;
    double seconds, share;  ///< remaining time when alone
  };

  [[nodiscard]] auto first() const { return std::ranges::min_element(works_, {}, &Work::seconds); }
  [[nodiscard]] double slowdown() const {
    double shares = 0;
    for (const Work& work : works_) shares += work.share;
    return std::max(1.0, shares);
  }
  /// Advances each piece by `seconds` of its own time. Returns: the time that it takes.
  double go_on_by(double seconds) {
    const double takes = seconds * slowdown();
    for (Work& work : works_) work.seconds = std::max(0.0, work.seconds - seconds);
    return takes;
  }
  void go_on(double now) {
    (void)go_on_by(std::max(0.0, now - now_) / slowdown());
    now_ = std::max(now_, now);
  }

  std::vector<Work> works_;
  double now_ = 0;
};

}  // namespace d5::detail
