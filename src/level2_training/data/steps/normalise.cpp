// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/image/layout.hpp"
#include "level2_training/data/image/normaliser.hpp"

namespace d5 {
namespace {

struct NormaliseOptions {
  enum class Values { unit, bytes } values = Values::unit;
  // Values of ImageNet's training images, scaled to [0, 1].
  std::vector<double> mean{0.485, 0.456, 0.406}, deviation{0.229, 0.224, 0.225};

  void declare(OptionList& options) {
    options.add("mean", mean, "mean of each channel, or one for all");
    options.add("deviation", deviation, "standard deviation of each channel, or one for all",
                {.above = 0});
    options.add("values", values,
                "range of mean and deviation: bytes scaled to [0, 1] (unit), or [0, 255] (bytes); "
                "float32 is not scaled",
                {"unit", "bytes"});
  }
};

/// (value - mean) / deviation. Bytes become channels-first; float32 keeps its layout.
class NormaliseStep final : public SampleStep {
 public:
  using Options = NormaliseOptions;
  explicit NormaliseStep(const NormaliseOptions& options)
      : normaliser_(options.mean, options.deviation,
                    options.values == Options::Values::unit ? 255 : 1) {}

  TensorDesc describe(const TensorDesc& in) const override {
    detail::expect_image(in);
    const std::int64_t channels = detail::channels_of(in);
    if (channels != kUnknownDim) normaliser_.expect_channels(channels);
    return {DType::float32, {channels, detail::height_of(in), detail::width_of(in)}};
  }
  void run(StepRun& run) const override {
    const SampleView& image = run.input();
    if (image.dtype == DType::float32) return normaliser_.run(run.edit());
    const auto [height, width, channels] =
        std::array{image.sizes[0], image.sizes[1], image.sizes[2]};
    normaliser_.run(image, run.output(DType::float32, {channels, height, width}));
  }

 private:
  detail::Normaliser normaliser_;
};

}  // namespace

namespace sample_step {

void register_normalise(Registry<SampleStepEntry>& registry) {
  registry.add("normalise",
               SampleStepEntry::of<NormaliseStep>(
                   "normalisation to mean 0 and deviation 1 per channel, float32, channels first"));
}

}  // namespace sample_step
}  // namespace d5
