// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/data/sample_step.hpp"
#include "level2_training/data/audio/audio_file.hpp"
#include "level2_training/data/audio/rate_change.hpp"

namespace d5 {
namespace {

struct DecodeAudioOptions {
  std::int64_t rate = 0, most_samples = std::int64_t{1} << 28;
  enum class Channels { mix, keep } channels = Channels::mix;
  double scale = 1;

  void declare(OptionList& options) {
    options.add("rate", rate,
                "sampling rate of the result in Hz, to which a file of another is resampled; 0: "
                "the file's",
                {.least = 0, .most = 768000});
    options.add("channels", channels,
                "mean of the channels, as samples; or all, as samples x channels", {"mix", "keep"});
    options.add("scale", scale, "value of a full-scale sample; 32768 for numbers of 16 bits");
    options.add("most_samples", most_samples,
                "limit on the samples of a file; larger ones are refused", {.least = 1});
  }
};

struct DecodeAudioMemory : StepRun::Memory {
  detail::Audio audio;
  std::vector<float> channel, changed;
  std::optional<detail::RateChange> change;  ///< change for the last file
};

/// Decodes an audio file to float32.
class DecodeAudioStep final : public SampleStep {
 public:
  using Options = DecodeAudioOptions;
  explicit DecodeAudioStep(const Options& options) : options_(options) {}

  TensorDesc describe(const TensorDesc& in) const override {
    const bool text = in.dtype == DType::string && in.shape.rank() == 0;
    const bool bytes = in.dtype == DType::uint8 && in.shape.rank() == 1;
    if (!text && !bytes) {
      throw TypeError("it gets " + to_string(in) +
                      ", expected an audio file: a string, or a vector of bytes");
    }
    if (mixes()) return {DType::float32, {kUnknownDim}};
    return {DType::float32, {kUnknownDim, kUnknownDim}};
  }
  std::unique_ptr<StepRun::Memory> memory() const override {
    return std::make_unique<DecodeAudioMemory>();
  }
  void run(StepRun& run) const override {
    auto& memory = run.memory<DecodeAudioMemory>();
    detail::Audio& audio = memory.audio;
    detail::decode_audio(bytes_of(run.input()), options_.most_samples, audio);
    if (mixes()) mix(audio);
    const std::int64_t times = std::int64_t(audio.samples.size()) / audio.channels;
    const bool changes = options_.rate != 0 && options_.rate != audio.rate;
    if (changes && (!memory.change || memory.change->from() != audio.rate)) {
      memory.change.emplace(audio.rate, options_.rate);
    }
    const std::int64_t length = changes ? memory.change->length_of(times) : times;
    const SampleView out = mixes() ? run.output(DType::float32, {length})
                                   : run.output(DType::float32, {length, audio.channels});
    const auto samples = out.span<float>();
    if (changes) {
      change_rate(memory, samples, length);
    } else {
      std::ranges::copy(audio.samples, samples.begin());
    }
    if (options_.scale == 1) return;
    for (float& sample : samples) sample = float(double(sample) * options_.scale);
  }

 private:
  [[nodiscard]] bool mixes() const { return options_.channels == Options::Channels::mix; }

  static std::span<const std::byte> bytes_of(const SampleView& sample) {
    if (sample.dtype == DType::string) return std::as_bytes(std::span(*sample.as<std::string>()));
    return std::as_bytes(sample.span<std::uint8_t>());
  }

  /// Leaves one channel, the mean of all.
  static void mix(detail::Audio& audio) {
    const auto channels = std::size_t(audio.channels);
    if (channels == 1) return;
    const std::size_t times = audio.samples.size() / channels;
    for (std::size_t t = 0; t < times; ++t) {
      double sum = 0;
      for (std::size_t c = 0; c < channels; ++c) sum += double(audio.samples[t * channels + c]);
      audio.samples[t] = float(sum / double(channels));
    }
    audio.samples.resize(times);
    audio.channels = 1;
  }

  static void change_rate(DecodeAudioMemory& memory, std::span<float> out, std::int64_t length) {
    const auto& [rate, count, samples] = memory.audio;
    const auto channels = std::size_t(count);
    if (channels == 1) return memory.change->run(samples, out);
    memory.channel.resize(samples.size() / channels);
    memory.changed.resize(std::size_t(length));
    for (std::size_t c = 0; c < channels; ++c) {
      for (std::size_t t = 0; t < memory.channel.size(); ++t) {
        memory.channel[t] = samples[t * channels + c];
      }
      memory.change->run(memory.channel, memory.changed);
      for (std::size_t t = 0; t < memory.changed.size(); ++t) {
        out[t * channels + c] = memory.changed[t];
      }
    }
  }

  Options options_;
};

}  // namespace

namespace sample_step {

void register_decode_audio(Registry<SampleStepEntry>& registry) {
  registry.add("decode_audio",
               SampleStepEntry::of<DecodeAudioStep>(
                   "decoding of an audio file (WAV, FLAC, Ogg) to float32 samples, resampled"));
}

}  // namespace sample_step
}  // namespace d5
