// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/audio/mel_bands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

using Scale = MelBands::Scale;

// Slaney's scale: 3 mel per 200 Hz, and above 1 kHz 27 mel per factor of 6.4.
constexpr double kHzPerMel = 200.0 / 3, kBreakHz = 1000, kBreakMel = kBreakHz / kHzPerMel;
const double kLogStep = std::log(6.4) / 27;
constexpr double kHtkFactor = 2595, kHtkHz = 700;

double mel_of(double hz, Scale scale) {
  if (scale == Scale::htk) return kHtkFactor * std::log10(1 + hz / kHtkHz);
  if (hz < kBreakHz) return hz / kHzPerMel;
  return kBreakMel + std::log(hz / kBreakHz) / kLogStep;
}

double hz_of(double mel, Scale scale) {
  if (scale == Scale::htk) return kHtkHz * (std::pow(10, mel / kHtkFactor) - 1);
  if (mel < kBreakMel) return mel * kHzPerMel;
  return kBreakHz * std::exp(kLogStep * (mel - kBreakMel));
}

}  // namespace

MelBands::MelBands(const Options& options) {
  const double nyquist = double(options.rate) / 2;
  if (!(options.low >= 0 && options.low < options.high && options.high <= nyquist)) {
    throw ValueError(fmt::format("mel bands from {} to {} Hz, expected 0 or more, up to {}",
                                 options.low, options.high, nyquist));
  }
  const double first = mel_of(options.low, options.scale);
  const double last = mel_of(options.high, options.scale);
  const auto corner = [&](std::int64_t i) {
    return hz_of(first + (last - first) * double(i) / double(options.bands + 1), options.scale);
  };
  const auto bins = std::size_t(options.length / 2 + 1);
  for (std::int64_t b = 0; b < options.bands; ++b) {
    const double left = corner(b), centre = corner(b + 1), right = corner(b + 2);
    const double height = options.scale == Scale::slaney ? 2 / (right - left) : 1;
    Band band;
    for (std::size_t i = 0; i < bins; ++i) {
      const double hz = double(i) * double(options.rate) / double(options.length);
      const double weight =
          std::min((hz - left) / (centre - left), (right - hz) / (right - centre));
      if (weight <= 0) continue;
      if (band.weights.empty()) band.begin = i;
      band.weights.push_back(weight * height);
    }
    bands_.push_back(std::move(band));
  }
}

void MelBands::run(std::span<const float> spectrum, std::span<float> out) const {
  for (std::size_t b = 0; b < bands_.size(); ++b) {
    const auto& [begin, weights] = bands_[b];
    double sum = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      sum += weights[i] * double(spectrum[begin + i]);
    }
    out[b] = float(sum);
  }
}

}  // namespace d5::detail
