// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "level2_training/data/image/layout.hpp"
#include "level2_training/data/image/range.hpp"

namespace d5 {
namespace {

struct RandomErasingOptions {
  double probability = 0.5, fill = 0;
  std::vector<double> scale{0.02, 0.33}, ratio{0.3, 3.3};

  void declare(OptionList& options) {
    options.add("probability", probability, "probability of erasing a rectangle",
                {.least = 0, .most = 1});
    options.add("scale", scale, "minimum and maximum share of the image's area",
                {.least = 0, .most = 1});
    options.add("ratio", ratio, "minimum and maximum of height / width", {.above = 0});
    options.add("fill", fill, "value of the rectangle");
  }
};

/// Erases one rectangle of random area, shape and position.
/// Source: Zhong et al., "Random Erasing Data Augmentation" (2017). The distribution is that of
/// torchvision's RandomErasing: after ten failed tries nothing is erased.
class RandomErasingStep final : public SampleStep {
 public:
  using Options = RandomErasingOptions;
  explicit RandomErasingStep(const RandomErasingOptions& options)
      : options_(options),
        scale_(detail::range_of("random_erasing", "scale", options.scale)),
        ratio_(detail::range_of("random_erasing", "ratio", options.ratio)) {}

  TensorDesc describe(const TensorDesc& in) const override {
    detail::expect_image(in);
    return in;
  }
  void run(StepRun& run) const override {
    RandomStream& random = run.random();
    if (random.uniform_double() >= options_.probability) return run.keep();
    const detail::ImageLayout at = detail::layout_of(run.input());
    const detail::Range logarithm{std::log(ratio_.low), std::log(ratio_.high)};
    for (int attempt = 0; attempt < 10; ++attempt) {
      const double area = double(at.height * at.width) * scale_.draw(random);
      const double ratio = std::exp(logarithm.draw(random));
      const auto height = std::int64_t(std::nearbyint(std::sqrt(area * ratio)));
      const auto width = std::int64_t(std::nearbyint(std::sqrt(area / ratio)));
      if (height >= at.height || width >= at.width) continue;
      const auto top = std::int64_t(random.below(std::uint64_t(at.height - height + 1)));
      const auto left = std::int64_t(random.below(std::uint64_t(at.width - width + 1)));
      return detail::fill_rectangle(run.edit(), top, left, height, width, options_.fill);
    }
    run.keep();
  }

 private:
  RandomErasingOptions options_;
  detail::Range scale_, ratio_;
};

}  // namespace

namespace sample_step {

void register_random_erasing(Registry<SampleStepEntry>& registry) {
  registry.add("random_erasing",
               SampleStepEntry::of<RandomErasingStep>(
                   "random erasing: a random rectangle of one value (Zhong et al., 2017)"));
}

}  // namespace sample_step
}  // namespace d5
