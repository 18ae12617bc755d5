// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "d5/core/results/measurement.hpp"
#include "level0_ops/validation/evidence.hpp"
#include "level0_ops/validation/narrow_gradient.hpp"
#include "level0_ops/validation/slopes.hpp"
#include "level0_ops/validation/worse.hpp"

namespace d5::detail {

/// Findings on an input's gradient.
class GradientTally {
 public:
  explicit GradientTally(double tolerance) : tolerance_(tolerance) {}

  /// Whether no error was found yet, so that more points are worth checking.
  [[nodiscard]] bool is_open() const { return where_.empty(); }

  /// Adds the finding on an output at `place`, an element of the input or of an output, which is
  /// counted.
  template <class Name>
  void compare(Slopes& slopes, std::size_t k, double slope, std::size_t place, Name&& name) {
    const double error = slopes.distance(k, slope, is_open());
    const Shape1d shape = slopes.shape(k);
    if (shape != Shape1d::smooth) count(shape, place);
    if (shape != Shape1d::undefined) judge(slopes, k, slope, error, name);
  }
  /// Adds a finding along a direction that is not a single element.
  template <class Name>
  void compare_together(Slopes& slopes, std::size_t k, double slope, Name&& name) {
    judge(slopes, k, slope, slopes.distance(k, slope, is_open()), name);
  }
  void compare(double analytic, double numerical, const std::string& name) {
    ++compared_;
    const double error = std::fabs(analytic - numerical) / std::max(1.0, std::fabs(numerical));
    largest_ = worse(largest_, error);
    if (error <= tolerance_ || !is_open()) return;
    where_ =
        fmt::format("{}: backward says {}, central differences say {}", name, analytic, numerical);
  }
  [[nodiscard]] bool has_kinks() const { return places_.contains(Shape1d::kink); }
  void count(Shape1d shape, std::size_t place) { places_[shape].insert(place); }
  [[nodiscard]] bool agrees(double analytic, double numerical) const {
    return std::fabs(analytic - numerical) <= tolerance_ * std::max(1.0, std::fabs(numerical));
  }

  /// `count` is the number of elements that places refer to.
  void write(Measurement& record, std::size_t count) const {
    record.samples = {largest_};
    for (const auto& [shape, places] : places_) {
      record.conditions[std::string(name_of(shape)) + "s"] =
          finding(fmt::format("{} of {}", places.size(), count));
    }
    const auto undefined = places_.find(Shape1d::undefined);
    const std::size_t no_numbers = undefined == places_.end() ? 0 : undefined->second.size();
    if (!where_.empty()) {
      record.status = Status::failed;
      record.reason = where_;
    } else if (2 * no_numbers > count) {
      mistrust_uncompared(record, condition_of(record, "tensor"),
                          fmt::format("differences are NaN or infinite in {} of {} places: "
                                      "give inputs",
                                      no_numbers, count));
    } else if (compared_ == 0 && places_.empty()) {
      mistrust_uncompared(record, condition_of(record, "tensor"),
                          "there is nothing to differ: give inputs");
    } else if (compared_ == 0) {
      record.status = Status::skipped;
      record.samples.clear();
      record.reason = kNothingCompared;
    }
  }

 private:
  template <class Name>
  void judge(const Slopes& slopes, std::size_t k, double slope, double error, Name&& name) {
    ++compared_;
    largest_ = worse(largest_, error);
    if (error <= tolerance_ || !is_open()) return;
    where_ = fmt::format("{}: backward says {}, ", name(), slope);
    const Shape1d shape = slopes.shape(k);
    if (shape == Shape1d::smooth) {
      where_ += fmt::format("central differences say {}", slopes.central(k));
    } else {
      where_ += fmt::format("slopes beside the {} are {} to {}", name_of(shape),
                            slopes.range(k).low, slopes.range(k).high);
    }
  }

  static std::string_view name_of(Shape1d shape) {
    return shape == Shape1d::kink ? "kink" : shape == Shape1d::jump ? "jump" : "undefined place";
  }

  double tolerance_;
  double largest_ = 0;
  std::size_t compared_ = 0;
  std::string where_;  ///< the first wrong element
  std::map<Shape1d, std::set<std::size_t>> places_;
};

}  // namespace d5::detail
