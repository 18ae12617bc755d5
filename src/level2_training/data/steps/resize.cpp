// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "d5/core/error.hpp"
#include "level2_training/data/image/framing_step.hpp"

namespace d5 {
namespace {

struct ResizeOptions {
  std::int64_t size = 0, height = 0, width = 0;

  void declare(OptionList& options) {
    options.add("size", size, "of the shorter side; the other keeps the shape; 0: not so",
                {.least = 0, .most = 65536});
    options.add("height", height, "of the result; 0: by size", {.least = 0, .most = 65536});
    options.add("width", width, "of the result; 0: by size", {.least = 0, .most = 65536});
  }
};

/// Another size, bilinear and antialiased.
class ResizeStep final : public detail::FramingStep {
 public:
  using Options = ResizeOptions;
  explicit ResizeStep(const ResizeOptions& options) : options_(options) {
    const bool by_size = options.size > 0 && options.height == 0 && options.width == 0;
    const bool by_sides = options.size == 0 && options.height > 0 && options.width > 0;
    if (!by_size && !by_sides) {
      throw ValueError("step resize: expected either size, or height and width");
    }
  }

  TensorDesc describe(const TensorDesc& in) const override {
    detail::expect_bytes(in);
    const ImageSize image{detail::height_of(in), detail::width_of(in)};
    const bool open = image.height == kUnknownDim || image.width == kUnknownDim;
    if (options_.size > 0 && open) return detail::resized(in, kUnknownDim, kUnknownDim);
    const ImageSize size = size_for(image);
    return detail::resized(in, size.height, size.width);
  }
  detail::Frame frame(const ImageSize& image, RandomStream&) const override {
    return {.height = image.height, .width = image.width, .size = size_for(image)};
  }

 private:
  [[nodiscard]] ImageSize size_for(const ImageSize& image) const {
    const auto [size, height, width] = options_;
    if (size == 0) return {height, width};
    // The longer side is cut off to whole pixels, as torchvision does.
    if (image.height < image.width) return {size, size * image.width / image.height};
    return {size * image.height / image.width, size};
  }
  ResizeOptions options_;
};

}  // namespace

namespace sample_step {

void register_resize(Registry<SampleStepEntry>& registry) {
  registry.add("resize", SampleStepEntry::of<ResizeStep>("another size: bilinear, antialiased"));
}

}  // namespace sample_step
}  // namespace d5
