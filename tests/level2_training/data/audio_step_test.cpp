// SPDX-License-Identifier: Apache-2.0
// Steps for audio: files by hand, resampling by closed form and torchaudio, log-mel by librosa and
// torchaudio (audio_features.py).
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <sstream>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "tests/level2_training/data/after_steps.hpp"
#include "tests/wav_file.hpp"

namespace d5 {
namespace {

using Catch::Contains;
using testing::after;
using Floats = std::vector<float>;
constexpr double kTurn = 2 * std::numbers::pi;

Floats numbers(const Tensor& tensor) {
  const auto values = tensor.span<float>();
  return {values.begin(), values.end()};
}

Tensor signal_of(std::int64_t samples, const std::function<double(double)>& value) {
  Floats signal;
  for (std::int64_t i = 0; i < samples; ++i) signal.push_back(float(value(double(i))));
  return Tensor::vector(signal);
}

/// Skips the cases of a d5 without libsndfile, which says so.
bool decodes() {
  try {
    (void)after(Tensor::scalar(testing::wav_file({0}, 8000)), {{"decode_audio"}});
  } catch (const Error& error) {
    CHECK_THAT(error.what(), Contains("libsndfile1-dev"));
    WARN("skipped: " << error.what());
    return false;
  }
  return true;
}

TEST_CASE("a WAV file is samples from -1 to 1, its channels mixed or kept") {
  if (!decodes()) return;
  const Tensor file = Tensor::scalar(testing::wav_file({16384, -32768, 0, 8192}, 16000, 2));
  CHECK(numbers(after(file, {{"decode_audio"}})) == Floats{-0.25F, 0.125F});
  const Tensor kept = after(file, {{"decode_audio", {{"channels", "keep"}}}});
  CHECK(kept.shape() == Shape{2, 2});
  CHECK(numbers(kept) == Floats{0.5F, -1, 0, 0.25F});
  CHECK(numbers(after(file, {{"decode_audio", {{"scale", 32768}}}})) == Floats{-8192, 4096});
  CHECK(after(Tensor::scalar(testing::wav_file({}, 16000)), {{"decode_audio"}}).elements() == 0);
}

TEST_CASE("a file of another rate is resampled, each channel by itself") {
  if (!decodes()) return;
  std::vector<std::int16_t> left, both;
  for (int i = 0; i < 480; ++i) {
    left.push_back(std::int16_t(20000 * std::sin(kTurn * 300 * i / 48000)));
    both.push_back(left.back());
    both.push_back(std::int16_t(-left.back() / 2));
  }
  const Tensor one = after(Tensor::scalar(testing::wav_file(left, 48000)),
                           {{"decode_audio"}, {"resample", {{"from", 48000}, {"to", 16000}}}});
  REQUIRE(one.shape() == Shape{160});
  CHECK(numbers(after(Tensor::scalar(testing::wav_file(left, 48000)),
                      {{"decode_audio", {{"rate", 16000}}}})) == numbers(one));
  const Tensor two = after(Tensor::scalar(testing::wav_file(both, 48000, 2)),
                           {{"decode_audio", {{"rate", 16000}, {"channels", "keep"}}}});
  REQUIRE(two.shape() == Shape{160, 2});
  for (std::int64_t i = 0; i < 160; ++i) {
    CHECK(two.data<float>()[2 * i] == one.data<float>()[i]);
    CHECK(two.data<float>()[2 * i + 1] == Approx(-one.data<float>()[i] / 2).margin(1e-4));
  }
}

TEST_CASE("what is no audio file, cut off or too long is refused") {
  if (!decodes()) return;
  const std::string wav = testing::wav_file({1, 2, 3, 4}, 16000);
  const auto decoded = [](const std::string& bytes, const Settings& settings = {}) {
    return after(Tensor::scalar(bytes), {{"decode_audio", settings}});
  };
  CHECK_THROWS_WITH(decoded(""), Contains("0 bytes are no audio file"));
  CHECK_THROWS_WITH(decoded("no audio at all"), Contains("no audio file"));
  CHECK_THROWS_AS(decoded(wav.substr(0, 20)), FormatError);
  CHECK_THROWS_WITH(decoded(wav, {{"most_samples", 3}}), Contains("more than 3 samples"));
  std::string lying = wav;  // 2 GiB of samples, it says
  for (std::size_t i = 0; i < 4; ++i) lying[40 + i] = char(0x7f);
  CHECK(decoded(lying).elements() <= 4);
  CHECK_THROWS_AS(decoded(testing::wav_file({1}, 900'000), {{"rate", 16000}}), Error);
  CHECK_THROWS_AS(after(Tensor::vector(Floats{1, 2}), {{"decode_audio"}}), TypeError);
}

TEST_CASE("a resampled tone is the tone, and what the lower rate cannot hold is gone") {
  const auto [from, to] = GENERATE(table<int, int>(
      {{48000, 16000}, {16000, 48000}, {44100, 16000}, {8000, 44100}, {16000, 16000}}));
  INFO(from << " to " << to);
  const auto tone = [&](double hz, int rate) {
    return [hz, rate](double i) { return std::sin(kTurn * hz * i / rate); };
  };
  const std::int64_t samples = from / 10;
  const std::vector<EntryChoice> steps{{"resample", {{"from", from}, {"to", to}}}};
  const Tensor got = after(signal_of(samples, tone(1000, from)), steps);
  REQUIRE(got.elements() == (samples * to + from - 1) / from);
  const std::int64_t edge = got.elements() / 10;  // ends, where the signal is cut off
  for (std::int64_t i = edge; i < got.elements() - edge; ++i) {
    // The pass band ripples by a thousandth.
    REQUIRE(got.data<float>()[i] == Approx(tone(1000, to)(double(i))).margin(3e-3));
  }
  if (to >= from) return;
  const Tensor above = after(signal_of(samples, tone(0.75 * to, from)), steps);
  for (std::int64_t i = edge; i < above.elements() - edge; ++i) {
    REQUIRE(std::abs(above.data<float>()[i]) < 1e-2);
  }
}

TEST_CASE("rates without a common divisor are resampled too, and impossible ones refused") {
  const Tensor ones = signal_of(2000, [](double) { return 1; });
  const Tensor got = after(ones, {{"resample", {{"from", 44101}, {"to", 16000}}}});
  CHECK(got.elements() == 726);  // ceil(2000 * 16000 / 44101)
  for (std::int64_t i = 100; i < 600; ++i) {
    REQUIRE(got.data<float>()[i] == Approx(1).margin(3e-3));
  }
  CHECK_THROWS_AS(after(ones, {{"resample", {{"from", 0}, {"to", 16000}}}}), ValueError);
  CHECK_THROWS_WITH(
      after(Tensor::vector(std::vector<double>{1}), {{"resample", {{"from", 2}, {"to", 1}}}}),
      Contains("float64 1") && Contains("decode_audio"));
}

TEST_CASE("frames overlap by what the hop leaves, and the last is padded or dropped") {
  const Tensor five = Tensor::vector(Floats{1, 2, 3, 4, 5});
  const auto framed = [&](const Settings& settings) { return after(five, {{"frames", settings}}); };
  const Tensor padded = framed({{"length", 3}, {"hop", 2}});
  CHECK(padded.shape() == Shape{2, 3});
  CHECK(numbers(padded) == Floats{1, 2, 3, 3, 4, 5});
  CHECK(numbers(framed({{"length", 2}})) == Floats{1, 2, 3, 4, 5, 0});
  CHECK(numbers(framed({{"length", 2}, {"tail", "drop"}})) == Floats{1, 2, 3, 4});
  // As voice detectors have it: a frame and the end of the one before.
  const Tensor context = framed({{"length", 3}, {"hop", 2}, {"before", 1}});
  CHECK(context.shape() == Shape{3, 3});
  CHECK(numbers(context) == Floats{0, 1, 2, 2, 3, 4, 4, 5, 0});
  CHECK(numbers(framed({{"length", 7}})) == Floats{1, 2, 3, 4, 5, 0, 0});
  CHECK(framed({{"length", 7}, {"tail", "drop"}}).shape() == Shape{0, 7});
  CHECK(after(Tensor::zeros(DType::float32, {0}), {{"frames"}}).shape() == Shape{0, 400});
  const Tensor rows = after(Tensor::of<std::int64_t>({3, 2}, {1, 2, 3, 4, 5, 6}),
                            {{"frames", {{"length", 2}, {"hop", 1}}}});
  CHECK(rows.shape() == Shape{2, 2, 2});
  CHECK(rows.data<std::int64_t>()[4] == 3);
}

/// The signal of audio_features.py.
Tensor judged_signal(std::int64_t samples) {
  return signal_of(samples, [](double t) {
    const auto i = std::int64_t(t);
    const double noise = double((7919 * i + 104729 * i * i) % 1009) / 1009 - 0.5;
    return 0.5 * std::sin(kTurn * 440 * t / 16000) + 0.25 * std::cos(kTurn * 0.00007 * t * t) +
           0.1 * noise;
  });
}

TEST_CASE("signals are resampled as by torchaudio, and log-mel is librosa's and torchaudio's") {
  std::ifstream file(std::filesystem::path(__FILE__).parent_path() / "audio_features.txt");
  int cases = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    std::string library, step, word;
    words >> library >> step;
    Settings settings;
    while (words >> word && word != ":") {
      const std::size_t equals = word.find('=');
      settings.set(word.substr(0, equals), word.substr(equals + 1));
    }
    Floats expected;
    for (float number = 0; words >> number;) expected.push_back(number);
    INFO(library << " " << step << " case " << cases);
    const Tensor got = after(judged_signal(step == "resample" ? 200 : 3000), {{step, settings}});
    REQUIRE(got.elements() == std::int64_t(expected.size()));
    double most = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      most = std::max(most, double(std::abs(got.data<float>()[i] - expected[i])));
    }
    // Single precision: a spectrum of 512 terms, and its logarithm.
    CHECK(most < (step == "resample" ? 1e-5 : 2e-3));
    ++cases;
  }
  CHECK(cases == 6);
}

TEST_CASE("a log-mel spectrogram of what it cannot be made of is refused") {
  const auto refused = [](const Settings& settings) {
    return after(signal_of(100, [](double) { return 0; }), {{"log_mel", settings}});
  };
  CHECK_THROWS_WITH(refused({}), Contains("100 samples, expected more than 200"));
  CHECK_THROWS_WITH(refused({{"low", 9000}}), Contains("9000 to 8000 Hz"));
  CHECK_THROWS_WITH(refused({{"high", 9000}}), Contains("up to 8000"));
  CHECK(refused({{"edges", "none"}}).shape() == Shape{0, 80});
  CHECK_THROWS_AS(after(Tensor::vector(std::vector<std::int64_t>{1}), {{"log_mel"}}), TypeError);
}

}  // namespace
}  // namespace d5
