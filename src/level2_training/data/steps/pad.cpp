// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "level2_training/data/image/framing_step.hpp"

namespace d5 {
namespace {

struct PadOptions {
  std::vector<double> padding{4};
  double fill = 0;

  void declare(OptionList& options) {
    options.add("padding", padding, "pixels on each side; or left, top, right and bottom",
                {.least = 0, .most = 65536});
    options.add("fill", fill, "padding value");
  }
};

/// An image with a border.
class PadStep final : public detail::FramingStep {
 public:
  using Options = PadOptions;
  explicit PadStep(const PadOptions& options) : fill_(options.fill) {
    std::vector<double> sides = options.padding;
    if (sides.size() == 1) sides.assign(4, sides[0]);
    bool whole = sides.size() == 4;
    for (const double side : sides) whole = whole && side == double(std::int64_t(side));
    if (!whole) {
      throw ValueError(
          "step pad: option padding has to be one whole number, or four: left, top, "
          "right, bottom");
    }
    left_ = std::int64_t(sides[0]);
    top_ = std::int64_t(sides[1]);
    right_ = std::int64_t(sides[2]);
    bottom_ = std::int64_t(sides[3]);
  }

  TensorDesc describe(const TensorDesc& in) const override {
    detail::expect_image(in);
    const auto longer = [](std::int64_t length, std::int64_t more) {
      return length == kUnknownDim ? kUnknownDim : length + more;
    };
    return detail::resized(in, longer(detail::height_of(in), top_ + bottom_),
                           longer(detail::width_of(in), left_ + right_));
  }
  double fill() const override { return fill_; }
  detail::Frame frame(const ImageSize& image, RandomStream&) const override {
    const ImageSize size{image.height + top_ + bottom_, image.width + left_ + right_};
    return {.top = -top_, .left = -left_, .height = size.height, .width = size.width, .size = size};
  }

 private:
  double fill_;
  std::int64_t left_ = 0, top_ = 0, right_ = 0, bottom_ = 0;
};

}  // namespace

namespace sample_step {

void register_pad(Registry<SampleStepEntry>& registry) {
  registry.add("pad", SampleStepEntry::of<PadStep>("padding with one value"));
}

}  // namespace sample_step
}  // namespace d5
