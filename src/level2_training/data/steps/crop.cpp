// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "level2_training/data/image/framing_step.hpp"

namespace d5 {
namespace {

struct CropOptions {
  std::int64_t size = 224, padding = 0;
  double fill = 0;

  void declare(OptionList& options) {
    options.add("size", size, "height and width of the crop", {.least = 1, .most = 65536});
    options.add("padding", padding, "pixels of padding on each side before the crop",
                {.least = 0, .most = 65536});
    options.add("fill", fill, "padding value");
  }
};

/// A square at a uniformly random position.
/// Source: He et al., "Deep Residual Learning for Image Recognition" (2015), section 4.2: padding
/// 4.
class CropStep final : public detail::FramingStep {
 public:
  using Options = CropOptions;
  explicit CropStep(const CropOptions& options) : options_(options) {}

  TensorDesc describe(const TensorDesc& in) const override {
    detail::expect_image(in);
    const ImageSize image{detail::height_of(in), detail::width_of(in)};
    if (image.height != kUnknownDim && image.width != kUnknownDim) expect_large(image);
    return detail::resized(in, options_.size, options_.size);
  }
  double fill() const override { return options_.fill; }
  detail::Frame frame(const ImageSize& image, RandomStream& random) const override {
    expect_large(image);
    const auto [size, padding, fill] = options_;
    const auto place = [&](std::int64_t length) {
      return std::int64_t(random.below(std::uint64_t(length + 2 * padding - size + 1))) - padding;
    };
    const std::int64_t top = place(image.height), left = place(image.width);
    return {.top = top, .left = left, .height = size, .width = size, .size = {size, size}};
  }

 private:
  void expect_large(const ImageSize& image) const {
    const std::int64_t least = options_.size - 2 * options_.padding;
    if (image.height >= least && image.width >= least) return;
    throw ShapeError(
        fmt::format("the image is {} x {}, too small for a crop of {} after {} pixels "
                    "of padding; resize it first, or pad more",
                    image.height, image.width, options_.size, options_.padding));
  }
  CropOptions options_;
};

}  // namespace

namespace sample_step {

void register_crop(Registry<SampleStepEntry>& registry) {
  registry.add("crop", SampleStepEntry::of<CropStep>("random square crop of the padded image"));
}

}  // namespace sample_step
}  // namespace d5
