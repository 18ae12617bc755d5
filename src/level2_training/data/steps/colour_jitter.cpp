// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include "d5/core/errors/error.hpp"
#include "level2_training/data/image/layout.hpp"
#include "level2_training/data/image/range.hpp"

// Changes of RGB images of bytes, in place. The arithmetic is torchvision's for uint8: it truncates
// to bytes.
namespace d5::detail {
namespace {

std::uint8_t blend(float value, float other, float factor) {
  return std::uint8_t(std::clamp(factor * value + (1 - factor) * other, 0.0F, 255.0F));
}

/// Luma of ITU-R BT.601, truncated to a byte.
std::uint8_t grey(const std::uint8_t* rgb) {
  return std::uint8_t(0.2989F * float(rgb[0]) + 0.587F * float(rgb[1]) + 0.114F * float(rgb[2]));
}

/// Converts to hue in [0, 1), saturation and value in [0, 1].
/// Source: Smith, "Color Gamut Transform Pairs" (SIGGRAPH 1978).
std::array<float, 3> to_hsv(float red, float green, float blue) {
  const float most = std::max({red, green, blue}), least = std::min({red, green, blue});
  const float range = most - least;
  if (range == 0) return {0, 0, most};
  float sixths = most == red     ? (green - blue) / range
                 : most == green ? 2 + (blue - red) / range
                                 : 4 + (red - green) / range;
  if (sixths < 0) sixths += 6;
  return {sixths / 6, range / most, most};
}

std::array<float, 3> to_rgb(float hue, float saturation, float value) {
  const float sixths = hue * 6, whole = std::floor(sixths), rest = sixths - whole;
  const float least = value * (1 - saturation);
  const float falling = value * (1 - saturation * rest);
  const float rising = value * (1 - saturation * (1 - rest));
  switch (int(whole) % 6) {
    case 0:
      return {value, rising, least};
    case 1:
      return {falling, value, least};
    case 2:
      return {least, value, rising};
    case 3:
      return {least, falling, value};
    case 4:
      return {rising, least, value};
    default:
      return {value, least, falling};
  }
}

/// Times `factor`.
void change_brightness(std::span<std::uint8_t> rgb, double factor) {
  for (std::uint8_t& value : rgb) value = blend(value, 0, float(factor));
}

/// Moves pixels away from the mean of the grey image, for a factor above 1.
void change_contrast(std::span<std::uint8_t> rgb, double factor) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < rgb.size(); i += 3) sum += grey(&rgb[i]);
  const auto mean = float(double(sum) / (double(rgb.size()) / 3));
  for (std::uint8_t& value : rgb) value = blend(value, mean, float(factor));
}

/// Away from the grey image.
void change_saturation(std::span<std::uint8_t> rgb, double factor) {
  for (std::size_t i = 0; i < rgb.size(); i += 3) {
    const std::uint8_t luma = grey(&rgb[i]);
    for (std::size_t c = 0; c < 3; ++c) rgb[i + c] = blend(rgb[i + c], luma, float(factor));
  }
}

/// Shifts the hue by a fraction `turns` of the circle.
void change_hue(std::span<std::uint8_t> rgb, double turns) {
  constexpr float kNearly256 = 256 - 1e-3F;  // 1 becomes 255, and each byte has as much of [0, 1]
  for (std::size_t i = 0; i < rgb.size(); i += 3) {
    auto [hue, saturation, value] =
        to_hsv(float(rgb[i]) / 255, float(rgb[i + 1]) / 255, float(rgb[i + 2]) / 255);
    hue += float(turns);
    hue -= std::floor(hue);
    const auto turned = to_rgb(hue, saturation, value);
    for (std::size_t c = 0; c < 3; ++c) {
      rgb[i + c] = std::uint8_t(std::clamp(turned[c] * kNearly256, 0.0F, 255.0F));
    }
  }
}

}  // namespace
}  // namespace d5::detail

namespace d5 {
namespace {

struct ColourJitterOptions {
  std::vector<double> brightness{0}, contrast{0}, saturation{0}, hue{0};

  void declare(OptionList& options) {
    options.add("brightness", brightness,
                "v: random factor in [1 - v, 1 + v]; or its minimum and maximum", {.least = 0});
    options.add("contrast", contrast, "v, or minimum and maximum, like brightness", {.least = 0});
    options.add("saturation", saturation, "v, or minimum and maximum, like brightness",
                {.least = 0});
    options.add("hue", hue, "v: random turn of the hue in [-v, v]; or its minimum and maximum",
                {.least = -0.5, .most = 0.5});
  }
};

/// Range that `given` means around `middle`, the neutral value.
detail::Range around(double middle, const char* option, const std::vector<double>& given) {
  if (given.size() != 1) return detail::range_of("colour_jitter", option, given);
  if (given[0] < 0) {
    throw ValueError(
        fmt::format("step colour_jitter: option {} is {}, expected a number >= 0, or "
                    "the least and the most",
                    option, given[0]));
  }
  const double least = middle == 1 ? std::max(0.0, 1 - given[0]) : -given[0];
  return {least, middle + given[0]};
}

/// Random brightness, contrast, saturation and hue, in a random order, distributed as in
/// torchvision's ColorJitter.
class ColourJitterStep final : public SampleStep {
 public:
  using Options = ColourJitterOptions;
  explicit ColourJitterStep(const ColourJitterOptions& options)
      : changes_{{{around(1, "brightness", options.brightness), 1, detail::change_brightness},
                  {around(1, "contrast", options.contrast), 1, detail::change_contrast},
                  {around(1, "saturation", options.saturation), 1, detail::change_saturation},
                  {around(0, "hue", options.hue), 0, detail::change_hue}}} {}

  TensorDesc describe(const TensorDesc& in) const override {
    detail::expect_bytes(in);
    if (detail::channels_of(in) != 3) {
      throw ShapeError(
          fmt::format("it gets {}, expected the three channels of colours", to_string(in)));
    }
    return in;
  }
  void run(StepRun& run) const override {
    const SampleView image = run.edit();
    std::array<std::int64_t, 4> order{0, 1, 2, 3};
    run.random().shuffle(order);
    for (const std::int64_t i : order) {
      const auto& [range, middle, change] = changes_[std::size_t(i)];
      if (range.low == middle && range.high == middle) continue;
      change(image.span<std::uint8_t>(), range.draw(run.random()));
    }
  }

 private:
  struct Change {
    detail::Range range;
    double middle;
    void (*change)(std::span<std::uint8_t>, double);
  };
  std::array<Change, 4> changes_;
};

}  // namespace

namespace sample_step {

void register_colour_jitter(Registry<SampleStepEntry>& registry) {
  registry.add("colour_jitter",
               SampleStepEntry::of<ColourJitterStep>(
                   "colour jitter: random brightness, contrast, saturation and hue"));
}

}  // namespace sample_step
}  // namespace d5
