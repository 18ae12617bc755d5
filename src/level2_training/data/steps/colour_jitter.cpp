// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "d5/core/error.hpp"
#include "level2_training/data/image/colour.hpp"
#include "level2_training/data/image/layout.hpp"
#include "level2_training/data/image/range.hpp"

namespace d5 {
namespace {

struct ColourJitterOptions {
  std::vector<double> brightness{0}, contrast{0}, saturation{0}, hue{0};

  void declare(OptionList& options) {
    options.add("brightness", brightness, "v: a factor of [1 - v, 1 + v]; or least and most",
                {.least = 0});
    options.add("contrast", contrast, "likewise", {.least = 0});
    options.add("saturation", saturation, "likewise", {.least = 0});
    options.add("hue", hue, "v: turns of [-v, v]; or least and most", {.least = -0.5, .most = 0.5});
  }
};

/// What `given` means around `middle`: where nothing changes.
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

/// Random brightness, contrast, saturation and hue, in a random order: the law of torchvision's
/// ColorJitter.
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
  registry.add("colour_jitter", SampleStepEntry::of<ColourJitterStep>(
                                    "random brightness, contrast, saturation and hue"));
}

}  // namespace sample_step
}  // namespace d5
