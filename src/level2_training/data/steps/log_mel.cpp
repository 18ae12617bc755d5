// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numbers>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/data/sample_step.hpp"
#include "level2_training/data/audio/mel_bands.hpp"
#include "level2_training/data/audio/signal.hpp"
#include "level2_training/data/audio/spectrum.hpp"

namespace d5 {
namespace {

struct LogMelOptions {
  std::int64_t rate = 16000, length = 400, hop = 160, bands = 80;
  double low = 0, high = 0, floor = 1e-10;
  detail::MelBands::Scale scale = detail::MelBands::Scale::slaney;
  enum class Logarithm { natural, ten } logarithm = Logarithm::natural;
  enum class Edges { reflect, none } edges = Edges::reflect;
  enum class Layout { frames_first, bands_first } layout = Layout::frames_first;

  void declare(OptionList& options) {
    options.add("rate", rate, "sampling rate of the signal in Hz", {.least = 1, .most = 768000});
    options.add("length", length, "samples of a frame, under a Hann window",
                {.least = 2, .most = 1'000'000});
    options.add("hop", hop, "samples from one frame's start to the next's",
                {.least = 1, .most = 1'000'000});
    options.add("bands", bands, "number of mel bands", {.least = 1, .most = 10'000});
    options.add("low", low, "lowest frequency in Hz", {.least = 0});
    options.add("high", high, "highest frequency in Hz; 0: half the rate", {.least = 0});
    options.add("scale", scale,
                "mel scale: Slaney's, with triangles of area 1; or HTK's, of height 1",
                {"slaney", "htk"});
    options.add("logarithm", logarithm, "logarithm: natural, or to base ten", {"natural", "ten"});
    options.add("floor", floor, "least power of a band", {.above = 0});
    options.add("edges", edges,
                "half a frame of the reflected signal at both ends, so that frames are centred; or "
                "whole frames only",
                {"reflect", "none"});
    options.add("layout", layout, "frames x bands, or bands x frames",
                {"frames_first", "bands_first"});
  }
};

struct LogMelMemory : StepRun::Memory {
  explicit LogMelMemory(std::size_t length, std::size_t bands)
      : spectrum(length), frame(length), bands(bands) {}
  detail::Spectrum spectrum;
  std::vector<float> frame, bands;
};

/// Logarithms of the power in mel bands, frame by frame.
class LogMelStep final : public SampleStep {
 public:
  using Options = LogMelOptions;
  explicit LogMelStep(const Options& options)
      : options_(options),
        bands_({.rate = options.rate,
                .length = options.length,
                .bands = options.bands,
                .low = options.low,
                .high = options.high > 0 ? options.high : double(options.rate) / 2,
                .scale = options.scale}) {
    for (std::int64_t i = 0; i < options.length; ++i) {  // periodic, as for a spectrum
      const double turn = 2 * std::numbers::pi * double(i) / double(options.length);
      window_.push_back(0.5 - 0.5 * std::cos(turn));
    }
  }

  TensorDesc describe(const TensorDesc& in) const override {
    detail::expect_signal(in);
    const std::int64_t samples = in.shape[0];
    const std::int64_t frames = samples == kUnknownDim ? kUnknownDim : frames_of(samples);
    if (frames_first()) return {DType::float32, {frames, options_.bands}};
    return {DType::float32, {options_.bands, frames}};
  }
  std::unique_ptr<StepRun::Memory> memory() const override {
    return std::make_unique<LogMelMemory>(std::size_t(options_.length),
                                          std::size_t(options_.bands));
  }
  void run(StepRun& run) const override {
    const auto signal = run.input().span<float>();
    auto& memory = run.memory<LogMelMemory>();
    const std::int64_t frames = frames_of(std::int64_t(signal.size()));
    const SampleView out = frames_first() ? run.output(DType::float32, {frames, options_.bands})
                                          : run.output(DType::float32, {options_.bands, frames});
    for (std::int64_t f = 0; f < frames; ++f) {
      cut(signal, f, memory.frame);
      bands_.run(memory.spectrum.power(memory.frame), memory.bands);
      for (std::int64_t b = 0; b < options_.bands; ++b) {
        const std::int64_t at = frames_first() ? f * options_.bands + b : b * frames + f;
        out.as<float>()[at] = logarithm(memory.bands[std::size_t(b)]);
      }
    }
  }

 private:
  [[nodiscard]] bool frames_first() const {
    return options_.layout == Options::Layout::frames_first;
  }
  [[nodiscard]] std::int64_t edge() const {
    return options_.edges == Options::Edges::reflect ? options_.length / 2 : 0;
  }
  /// Throws: ShapeError for a signal that is too short to be reflected.
  [[nodiscard]] std::int64_t frames_of(std::int64_t samples) const {
    if (edge() > 0 && samples <= edge()) {
      throw ShapeError("a signal of " + std::to_string(samples) + " samples, expected more than " +
                       std::to_string(edge()) + ", half a frame, to reflect it");
    }
    const std::int64_t rest = samples + 2 * edge() - options_.length;
    return rest < 0 ? 0 : rest / options_.hop + 1;
  }
  void cut(std::span<const float> signal, std::int64_t f, std::vector<float>& frame) const {
    const auto size = std::int64_t(signal.size());
    for (std::int64_t i = 0; i < options_.length; ++i) {
      std::int64_t at = std::abs(f * options_.hop + i - edge());
      if (at >= size) at = 2 * (size - 1) - at;
      frame[std::size_t(i)] = float(double(signal[std::size_t(at)]) * window_[std::size_t(i)]);
    }
  }
  [[nodiscard]] float logarithm(float power) const {
    const double value = std::max(double(power), options_.floor);
    return float(options_.logarithm == Options::Logarithm::ten ? std::log10(value)
                                                               : std::log(value));
  }

  Options options_;
  detail::MelBands bands_;
  std::vector<double> window_;
};

}  // namespace

namespace sample_step {

void register_log_mel(Registry<SampleStepEntry>& registry) {
  registry.add("log_mel",
               SampleStepEntry::of<LogMelStep>(
                   "log-mel spectrogram of a signal, as librosa and torchaudio make it"));
}

}  // namespace sample_step
}  // namespace d5
