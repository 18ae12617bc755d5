// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/sample_step.hpp"
#include "level2_training/data/audio/rate_change.hpp"
#include "level2_training/data/audio/signal.hpp"

namespace d5 {
namespace {

struct ResampleOptions {
  std::int64_t from = 0, to = 0;
  void declare(OptionList& options) {
    options.add("from", from, "sampling rate of the signal in Hz", {.least = 0, .most = 768000});
    options.add("to", to, "sampling rate of the result in Hz", {.least = 0, .most = 768000});
  }
};

/// Changes a signal's sampling rate.
class ResampleStep final : public SampleStep {
 public:
  using Options = ResampleOptions;
  explicit ResampleStep(const Options& options) : change_(options.from, options.to) {}

  TensorDesc describe(const TensorDesc& in) const override {
    detail::expect_signal(in);
    const std::int64_t samples = in.shape[0];
    return {DType::float32, {samples == kUnknownDim ? samples : change_.length_of(samples)}};
  }
  void run(StepRun& run) const override {
    const auto in = run.input().span<float>();
    const SampleView out = run.output(DType::float32, {change_.length_of(std::int64_t(in.size()))});
    change_.run(in, out.span<float>());
  }

 private:
  detail::RateChange change_;
};

}  // namespace

namespace sample_step {

void register_resample(Registry<SampleStepEntry>& registry) {
  registry.add("resample",
               SampleStepEntry::of<ResampleStep>(
                   "another sampling rate of a signal, by a windowed sinc (torchaudio's)"));
}

}  // namespace sample_step
}  // namespace d5
