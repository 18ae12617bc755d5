// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "level2_training/data/image/layout.hpp"

namespace d5 {
namespace {

// Luma of ITU-R BT.601, 0.299 R + 0.587 G + 0.114 B, in 65,536ths as Pillow rounds it.
constexpr std::uint32_t kRed = 19595, kGreen = 38470, kBlue = 7471, kHalf = 32768;
constexpr int kBits = 16;

/// One channel of grey values from RGB. Bytes are Pillow's (mode "L"), to the last bit.
class GreyscaleStep final : public SampleStep {
 public:
  TensorDesc describe(const TensorDesc& in) const override {
    detail::expect_image(in);
    const std::int64_t channels = detail::channels_of(in);
    if (channels != 1 && channels != 3 && channels != kUnknownDim) {
      throw ShapeError("it gets " + to_string(in) + ", expected one channel or three");
    }
    const auto dims = detail::image_dims(in.dtype, 1, detail::height_of(in), detail::width_of(in));
    return {in.dtype, Shape(std::span<const std::int64_t>(dims))};
  }
  void run(StepRun& run) const override {
    const SampleView& image = run.input();
    const std::int64_t channels = detail::channels_of(image);
    if (channels == 1) return run.keep();
    if (channels != 3) throw ShapeError("the image has neither one channel nor three");
    const detail::ImageLayout at = detail::layout_of(image);
    const SampleView out =
        run.output(image.dtype, detail::image_dims(image.dtype, 1, at.height, at.width));
    const std::int64_t pixels = at.height * at.width;
    if (image.dtype == DType::float32) {
      const float* red = image.as<float>();
      float* grey = out.as<float>();
      for (std::int64_t i = 0; i < pixels; ++i) {
        grey[i] = 0.299F * red[i] + 0.587F * red[pixels + i] + 0.114F * red[2 * pixels + i];
      }
      return;
    }
    const auto* pixel = image.as<std::uint8_t>();
    auto* grey = out.as<std::uint8_t>();
    for (std::int64_t i = 0; i < pixels; ++i, pixel += 3) {
      grey[i] =
          std::uint8_t((kRed * pixel[0] + kGreen * pixel[1] + kBlue * pixel[2] + kHalf) >> kBits);
    }
  }
};

}  // namespace

namespace sample_step {

void register_greyscale(Registry<SampleStepEntry>& registry) {
  registry.add("greyscale",
               SampleStepEntry::of<GreyscaleStep>("grey values of one channel, from RGB"));
}

}  // namespace sample_step
}  // namespace d5
