// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/image/layout.hpp"
#include "level2_training/data/image/normaliser.hpp"

namespace d5 {
namespace {

/// Scales bytes to [0, 1] in float32, channels first.
class ToTensorStep final : public SampleStep {
 public:
  TensorDesc describe(const TensorDesc& in) const override {
    detail::expect_bytes(in);
    return {DType::float32, {detail::channels_of(in), detail::height_of(in), detail::width_of(in)}};
  }
  void run(StepRun& run) const override {
    const SampleView& image = run.input();
    normaliser_.run(image,
                    run.output(DType::float32, {image.sizes[2], image.sizes[0], image.sizes[1]}));
  }

 private:
  detail::Normaliser normaliser_{{0}, {1}};
};

}  // namespace

namespace sample_step {

void register_to_tensor(Registry<SampleStepEntry>& registry) {
  registry.add("to_tensor", SampleStepEntry::of<ToTensorStep>(
                                "conversion to float32 in [0, 1], channels first"));
}

}  // namespace sample_step
}  // namespace d5
