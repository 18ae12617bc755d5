// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace d5::detail {

/// Resize's interpolation.
struct Resampling {
  enum class Filter { nearest, linear, cubic };
  enum class Coordinates {
    half_pixel,
    half_pixel_symmetric,
    pytorch_half_pixel,
    align_corners,
    asymmetric,
    tf_half_pixel,
    crop,
  };
  /// `away` is down for a scale of 1 or more, and up for a smaller one.
  enum class Rounding { prefer_floor, prefer_ceil, floor, ceil, away };

  Filter filter = Filter::nearest;
  Coordinates coordinates = Coordinates::half_pixel;
  Rounding rounding = Rounding::prefer_floor;
  double cubic_a = -0.75;
  bool antialias = false, exclude_outside = false;
};

/// A resampled dimension. `length` is the output's size before truncation to an integer.
struct ResampledAxis {
  std::int64_t input = 1, output = 1;
  double scale = 1, length = 1;
};

/// The cropped range of a dimension, from 0, the first element, to 1, the last.
struct Crop {
  double begin = 0, end = 1;
};

/// The input elements and weights for each position along an output dimension. Source: ONNX,
/// operator Resize.
class ResamplingTaps {
 public:
  ResamplingTaps(const Resampling& rule, const ResampledAxis& axis);

  /// Sets the crop; allocates nothing.
  void aim(const Crop& crop);

  struct Tap {
    std::int64_t index;
    double weight;
  };
  [[nodiscard]] std::int64_t input() const { return axis_.input; }
  [[nodiscard]] std::int64_t output() const { return axis_.output; }
  /// The number of taps per output position.
  [[nodiscard]] std::int64_t count() const { return count_; }
  /// The first tap of output position `o`.
  [[nodiscard]] const Tap* at(std::int64_t o) const { return taps_.data() + o * count_; }
  /// Whether output position `o` is outside the input, and has no taps (only in a crop).
  [[nodiscard]] bool outside(std::int64_t o) const { return at(o)->index < 0; }

 private:
  /// The input coordinate of output position `o`.
  [[nodiscard]] double position(std::int64_t o, const Crop& crop) const;
  void fill(double position, Tap* taps) const;
  [[nodiscard]] std::int64_t nearest(double position) const;
  [[nodiscard]] double weight(double distance) const;

  Resampling rule_;
  ResampledAxis axis_;
  double stretch_ = 1;  // factor of distances; below 1 the filter covers more elements
  std::int64_t count_ = 1;
  std::vector<Tap> taps_;
};

}  // namespace d5::detail
