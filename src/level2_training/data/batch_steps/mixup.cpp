// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/image/mixing_step.hpp"

namespace d5 {
namespace {

/// The mean of two images, weighted by the share.
/// Source: Zhang et al., "mixup: Beyond Empirical Risk Minimization" (2018).
class MixupStep final : public detail::MixingStep {
 public:
  MixupStep(std::vector<Dataset::Field> fields, const detail::MixingOptions& options)
      : MixingStep("mixup", std::move(fields), options) {}

 private:
  double mix(const Tensor& images, std::int64_t shift, double share, RandomStream&,
             Tensor& out) const override {
    const std::int64_t samples = images.shape()[0], each = images.elements() / samples;
    const auto of_first = float(share), of_second = float(1 - share);
    float* to = out.data<float>();
    for (std::int64_t i = 0; i < samples; ++i, to += each) {
      const float* first = images.data<float>() + i * each;
      const float* second = images.data<float>() + (i + shift) % samples * each;
      for (std::int64_t k = 0; k < each; ++k) to[k] = of_first * first[k] + of_second * second[k];
    }
    return share;
  }
};

}  // namespace

namespace batch_step {

void register_mixup(Registry<BatchStepEntry>& registry) {
  registry.add("mixup", BatchStepEntry::of<MixupStep>(
                            "mixup: weighted means of two samples (Zhang et al., 2018)"));
}

}  // namespace batch_step
}  // namespace d5
