// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/image/framing_step.hpp"
#include "level2_training/data/image/target_size.hpp"

namespace d5 {
namespace {

/// Another size, bilinear and antialiased.
class ResizeStep final : public detail::FramingStep {
 public:
  using Options = detail::TargetSize;
  explicit ResizeStep(const detail::TargetSize& size) : size_(size) { size.expect_one("resize"); }

  TensorDesc describe(const TensorDesc& in) const override { return size_.describe(in); }
  detail::Frame frame(const ImageSize& image, RandomStream&) const override {
    return {.height = image.height, .width = image.width, .size = size_.of(image)};
  }

 private:
  detail::TargetSize size_;
};

}  // namespace

namespace sample_step {

void register_resize(Registry<SampleStepEntry>& registry) {
  registry.add("resize", SampleStepEntry::of<ResizeStep>("bilinear resizing, antialiased"));
}

}  // namespace sample_step
}  // namespace d5
