// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "level2_training/data/image/framing_step.hpp"
#include "level2_training/data/image/range.hpp"

namespace d5 {
namespace {

struct RandomResizedCropOptions {
  std::int64_t size = 224;
  std::vector<double> scale{0.08, 1.0}, ratio{3.0 / 4, 4.0 / 3};

  void declare(OptionList& options) {
    options.add("size", size, "height and width of the result", {.least = 1, .most = 65536});
    options.add("scale", scale, "minimum and maximum share of the image's area",
                {.above = 0, .most = 1});
    options.add("ratio", ratio, "minimum and maximum of width / height", {.above = 0});
  }
};

/// A rectangle of random area, shape and position, resized to a square.
/// Source: Szegedy et al., "Going Deeper with Convolutions" (2014), section 6. The distribution is
/// that of torchvision's RandomResizedCrop: after ten failed tries the centre is taken.
class RandomResizedCropStep final : public detail::FramingStep {
 public:
  using Options = RandomResizedCropOptions;
  explicit RandomResizedCropStep(const RandomResizedCropOptions& options)
      : size_(options.size),
        scale_(detail::range_of("random_resized_crop", "scale", options.scale)),
        ratio_(detail::range_of("random_resized_crop", "ratio", options.ratio)) {}

  TensorDesc describe(const TensorDesc& in) const override {
    detail::expect_bytes(in);
    return detail::resized(in, size_, size_);
  }

  detail::Frame frame(const ImageSize& image, RandomStream& random) const override {
    const auto [height, width] = image;
    const detail::Range logarithm{std::log(ratio_.low), std::log(ratio_.high)};
    for (int attempt = 0; attempt < 10; ++attempt) {
      const double area = double(height * width) * scale_.draw(random);
      const double ratio = std::exp(logarithm.draw(random));
      const auto w = std::int64_t(std::nearbyint(std::sqrt(area * ratio)));
      const auto h = std::int64_t(std::nearbyint(std::sqrt(area / ratio)));
      if (w < 1 || w > width || h < 1 || h > height) continue;
      const auto top = std::int64_t(random.below(std::uint64_t(height - h + 1)));
      const auto left = std::int64_t(random.below(std::uint64_t(width - w + 1)));
      return {.top = top, .left = left, .height = h, .width = w, .size = {size_, size_}};
    }
    // The largest centred rectangle with an allowed shape.
    const double ratio = std::clamp(double(width) / double(height), ratio_.low, ratio_.high);
    const auto wide = std::int64_t(std::nearbyint(double(height) * ratio));
    const auto high = std::int64_t(std::nearbyint(double(width) / ratio));
    const std::int64_t w = std::clamp<std::int64_t>(wide, 1, width);
    const std::int64_t h = std::clamp<std::int64_t>(high, 1, height);
    return {.top = (height - h) / 2,
            .left = (width - w) / 2,
            .height = h,
            .width = w,
            .size = {size_, size_}};
  }

 private:
  std::int64_t size_;
  detail::Range scale_, ratio_;
};

}  // namespace

namespace sample_step {

void register_random_resized_crop(Registry<SampleStepEntry>& registry) {
  registry.add("random_resized_crop",
               SampleStepEntry::of<RandomResizedCropStep>(
                   "random resized crop: a random rectangle, resized to a square"));
}

}  // namespace sample_step
}  // namespace d5
