// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/audio/rate_change.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

constexpr std::int64_t kMostRate = 768'000;
constexpr double kCrossings = 6, kRolloff = 0.99;

/// sinc(t) under the window, for t in zero crossings.
double windowed_sinc(double t) {
  if (std::abs(t) >= kCrossings) return 0;
  const double window = std::cos(t * std::numbers::pi / kCrossings / 2);
  const double x = t * std::numbers::pi;
  return (x == 0 ? 1 : std::sin(x) / x) * window * window;
}

}  // namespace

RateChange::RateChange(std::int64_t from, std::int64_t to) : from_(from), to_(to) {
  if (from < 1 || to < 1 || from > kMostRate || to > kMostRate) {
    throw ValueError(
        fmt::format("sampling rates of {} and {} Hz, expected 1 to {}", from, to, kMostRate));
  }
  const std::int64_t divisor = std::gcd(from, to);
  step_ = from / divisor;
  phases_ = to / divisor;
  const double band = double(std::min(step_, phases_)) * kRolloff;
  const double half = kCrossings * double(step_) / band;  // samples on each side
  taps_ = 2 * std::int64_t(std::ceil(half)) + 1;
  for (std::int64_t phase = 0; phase < phases_; ++phase) {
    const double centre = double(phase * step_) / double(phases_);
    const auto begin = std::int64_t(std::ceil(centre - half));
    begins_.push_back(begin);
    for (std::int64_t k = 0; k < taps_; ++k) {
      const double t = (double(begin + k) - centre) * band / double(step_);
      weights_.push_back(windowed_sinc(t) * band / double(step_));
    }
  }
}

std::int64_t RateChange::length_of(std::int64_t samples) const {
  return (samples / step_) * phases_ + (samples % step_ * phases_ + step_ - 1) / step_;
}

void RateChange::run(std::span<const float> in, std::span<float> out) const {
  const auto size = std::int64_t(in.size());
  for (std::int64_t i = 0; i < std::int64_t(out.size()); ++i) {
    const std::int64_t phase = i % phases_;
    const std::int64_t begin = i / phases_ * step_ + begins_[std::size_t(phase)];
    const double* weights = weights_.data() + phase * taps_;
    const std::int64_t first = std::max<std::int64_t>(0, -begin);
    const std::int64_t end = std::min(taps_, size - begin);
    double sum = 0;
    for (std::int64_t k = first; k < end; ++k)
      sum += weights[k] * double(in[std::size_t(begin + k)]);
    out[std::size_t(i)] = float(sum);
  }
}

}  // namespace d5::detail
