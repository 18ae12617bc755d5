// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "level2_training/data/image/framing_step.hpp"

namespace d5 {
namespace {

struct CentreCropOptions {
  std::int64_t size = 224;
  double fill = 0;

  void declare(OptionList& options) {
    options.add("size", size, "height and width of the crop", {.least = 1, .most = 65536});
    options.add("fill", fill, "padding value around a smaller image");
  }
};

/// The square in the middle.
class CentreCropStep final : public detail::FramingStep {
 public:
  using Options = CentreCropOptions;
  explicit CentreCropStep(const CentreCropOptions& options) : options_(options) {}

  TensorDesc describe(const TensorDesc& in) const override {
    detail::expect_image(in);
    return detail::resized(in, options_.size, options_.size);
  }
  double fill() const override { return options_.fill; }
  detail::Frame frame(const ImageSize& image, RandomStream&) const override {
    const std::int64_t size = options_.size;
    return {.top = place(image.height),
            .left = place(image.width),
            .height = size,
            .width = size,
            .size = {size, size}};
  }

 private:
  /// Uses torchvision's rule: a half is rounded to the even place, and a smaller image has the
  /// larger margin behind it.
  [[nodiscard]] std::int64_t place(std::int64_t length) const {
    if (length < options_.size) return -((options_.size - length) / 2);
    return std::int64_t(std::nearbyint(double(length - options_.size) / 2));
  }
  CentreCropOptions options_;
};

}  // namespace

namespace sample_step {

void register_centre_crop(Registry<SampleStepEntry>& registry) {
  registry.add("centre_crop", SampleStepEntry::of<CentreCropStep>("centre crop, square"));
}

}  // namespace sample_step
}  // namespace d5
