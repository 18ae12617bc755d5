// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "level2_training/data/image/framing_step.hpp"

namespace d5 {
namespace {

struct PadToOptions {
  std::int64_t height = 0, width = 0;
  double fill = 0;

  void declare(OptionList& options) {
    options.add("height", height, "least height of the result", {.least = 0, .most = 65536});
    options.add("width", width, "least width of the result", {.least = 0, .most = 65536});
    options.add("fill", fill, "padding value");
  }
};

/// An image with a border on the right and below, up to a size; larger images stay.
class PadToStep final : public detail::FramingStep {
 public:
  using Options = PadToOptions;
  explicit PadToStep(const Options& options) : options_(options) {
    if (options.height == 0 && options.width == 0) {
      throw ValueError("step pad_to: expected a height, a width or both");
    }
  }

  TensorDesc describe(const TensorDesc& in) const override {
    detail::expect_image(in);
    const auto padded = [](std::int64_t length, std::int64_t least) {
      return length == kUnknownDim ? kUnknownDim : std::max(length, least);
    };
    return detail::resized(in, padded(detail::height_of(in), options_.height),
                           padded(detail::width_of(in), options_.width));
  }
  double fill() const override { return options_.fill; }
  detail::Frame frame(const ImageSize& image, RandomStream&) const override {
    const ImageSize size{std::max(image.height, options_.height),
                         std::max(image.width, options_.width)};
    return {.height = size.height, .width = size.width, .size = size};
  }

 private:
  Options options_;
};

}  // namespace

namespace sample_step {

void register_pad_to(Registry<SampleStepEntry>& registry) {
  registry.add("pad_to", SampleStepEntry::of<PadToStep>(
                             "border on the right and below, up to a height and width"));
}

}  // namespace sample_step
}  // namespace d5
