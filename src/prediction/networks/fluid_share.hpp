// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace d5::detail {

/// Pieces of work that share a medium. Each goes on as fast as alone while all together take no
/// more than the medium has; otherwise all are slower alike.
/// Units: s.
template <class Thing>
class FluidShare {
 public:
  /// Work that takes `seconds` alone, and `share` of the medium meanwhile. `now` is never before
  /// that of an earlier one, nor before the end of one that was taken.
  void add(Thing thing, double seconds, double share, double now) {
    go_on(now);
    works_.push_back({std::move(thing), seconds, share});
  }
  [[nodiscard]] bool empty() const { return works_.empty(); }
  /// When the next one ends, if none is added before; infinite: there is none.
  [[nodiscard]] double next() const {
    return empty() ? std::numeric_limits<double>::infinity() : now_ + first()->seconds * slowdown();
  }
  /// The one that ends then; of several the one that was added first.
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
    double seconds, share;  ///< that are left of it, alone
  };

  [[nodiscard]] auto first() const { return std::ranges::min_element(works_, {}, &Work::seconds); }
  [[nodiscard]] double slowdown() const {
    double shares = 0;
    for (const Work& work : works_) shares += work.share;
    return std::max(1.0, shares);
  }
  /// Of each so much is done. Returns: how long that takes.
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
