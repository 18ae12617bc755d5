// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "level2_training/data/image/mixing_step.hpp"

namespace d5 {
namespace {

/// Pastes a rectangle of another image into each image. Its centre is a random pixel, and its sides
/// are sqrt(1 - share) of the image's. The rectangle is cut off at the border, and the share is
/// adjusted.
/// Source: Yun et al., "CutMix: Regularization Strategy to Train Strong Classifiers" (2019).
class CutmixStep final : public detail::MixingStep {
 public:
  CutmixStep(std::vector<Dataset::Field> fields, const detail::MixingOptions& options)
      : MixingStep("cutmix", std::move(fields), options) {}

 private:
  double mix(const Tensor& images, std::int64_t shift, double share, RandomStream& random,
             Tensor& out) const override {
    const auto dims = images.shape().dims();
    const std::int64_t samples = dims[0], channels = dims[1], height = dims[2], width = dims[3];
    const auto side = [&](std::int64_t length) {
      const auto middle = std::int64_t(random.below(std::uint64_t(length)));
      const auto half = std::int64_t(0.5 * std::sqrt(1 - share) * double(length));
      return std::pair(std::max<std::int64_t>(0, middle - half), std::min(length, middle + half));
    };
    const auto [left, right] = side(width);
    const auto [top, bottom] = side(height);
    out.copy_from(images);
    const std::int64_t plane = height * width, each = channels * plane;
    for (std::int64_t i = 0; i < samples; ++i) {
      const float* from = images.data<float>() + (i + shift) % samples * each;
      float* to = out.data<float>() + i * each;
      for (std::int64_t c = 0; c < channels; ++c) {
        for (std::int64_t y = top; y < bottom; ++y) {
          const std::int64_t row = c * plane + y * width;
          std::copy(from + row + left, from + row + right, to + row + left);
        }
      }
    }
    return 1 - double((bottom - top) * (right - left)) / double(plane);
  }
};

}  // namespace

namespace batch_step {

void register_cutmix(Registry<BatchStepEntry>& registry) {
  registry.add("cutmix",
               BatchStepEntry::of<CutmixStep>(
                   "CutMix: pastes a rectangle of another image into each (Yun et al., 2019)"));
}

}  // namespace batch_step
}  // namespace d5
