// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "level2_training/data/image/layout.hpp"

namespace d5 {
namespace {

struct CutoutOptions {
  std::int64_t length = 16, holes = 1;
  double fill = 0;

  void declare(OptionList& options) {
    options.add("length", length, "side length of a hole, in pixels", {.least = 1, .most = 65536});
    options.add("holes", holes, "holes per image", {.least = 1, .most = 1000});
    options.add("fill", fill, "value of the hole");
  }
};

/// Square holes whose centre is a random pixel, cut off at the border of the image.
/// Source: DeVries and Taylor, "Improved Regularization of Convolutional Neural Networks with
/// Cutout" (2017).
class CutoutStep final : public SampleStep {
 public:
  using Options = CutoutOptions;
  explicit CutoutStep(const CutoutOptions& options) : options_(options) {}

  TensorDesc describe(const TensorDesc& in) const override {
    detail::expect_image(in);
    return in;
  }
  void run(StepRun& run) const override {
    const SampleView image = run.edit();
    const detail::ImageLayout at = detail::layout_of(image);
    for (std::int64_t hole = 0; hole < options_.holes; ++hole) {
      const auto [top, bottom] = side(at.height, run.random());
      const auto [left, right] = side(at.width, run.random());
      detail::fill_rectangle(image, top, left, bottom - top, right - left, options_.fill);
    }
  }

 private:
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> side(std::int64_t size,
                                                           RandomStream& random) const {
    const auto middle = std::int64_t(random.below(std::uint64_t(size)));
    const std::int64_t begin = middle - options_.length / 2;
    return {std::max<std::int64_t>(begin, 0), std::min(begin + options_.length, size)};
  }
  CutoutOptions options_;
};

}  // namespace

namespace sample_step {

void register_cutout(Registry<SampleStepEntry>& registry) {
  registry.add("cutout",
               SampleStepEntry::of<CutoutStep>("cutout: square holes (DeVries and Taylor, 2017)"));
}

}  // namespace sample_step
}  // namespace d5
