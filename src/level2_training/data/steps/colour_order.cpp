// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "level2_training/data/image/layout.hpp"

namespace d5 {
namespace {

struct ColourOrderOptions {
  enum class Order { rgb, bgr } order = Order::bgr;
  void declare(OptionList& options) {
    options.add("order", order, "order of the channels, from RGB", {"rgb", "bgr"});
  }
};

/// Swaps red and blue, for networks trained on OpenCV's images.
class ColourOrderStep final : public SampleStep {
 public:
  using Options = ColourOrderOptions;
  explicit ColourOrderStep(const Options& options) : options_(options) {}

  TensorDesc describe(const TensorDesc& in) const override {
    detail::expect_image(in);
    const std::int64_t channels = detail::channels_of(in);
    if (channels == 3 || channels == kUnknownDim) return in;
    throw ShapeError("it gets " + to_string(in) + ", expected three channels");
  }
  void run(StepRun& run) const override {
    if (options_.order == Options::Order::rgb) return run.keep();
    const SampleView image = run.edit();
    if (image.dtype == DType::float32) {
      float* red = image.as<float>();
      const std::int64_t pixels = image.sizes[1] * image.sizes[2];
      std::swap_ranges(red, red + pixels, red + 2 * pixels);
      return;
    }
    auto* pixel = image.as<std::uint8_t>();
    for (std::int64_t i = 0; i < image.sizes[0] * image.sizes[1]; ++i, pixel += 3) {
      std::swap(pixel[0], pixel[2]);
    }
  }

 private:
  Options options_;
};

}  // namespace

namespace sample_step {

void register_colour_order(Registry<SampleStepEntry>& registry) {
  registry.add("colour_order", SampleStepEntry::of<ColourOrderStep>("channel order: RGB or BGR"));
}

}  // namespace sample_step
}  // namespace d5
