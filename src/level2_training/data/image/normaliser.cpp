// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/image/normaliser.hpp"

#include <fmt/format.h>

#include <cmath>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

Normaliser::Normaliser(std::vector<double> means, std::vector<double> deviations, double unit)
    : means_(std::move(means)), deviations_(std::move(deviations)), tables_(means_.size()) {
  if (means_.empty() || means_.size() != deviations_.size()) {
    throw ValueError(
        fmt::format("{} means and {} deviations, expected as many, one for each channel",
                    means_.size(), deviations_.size()));
  }
  for (std::size_t c = 0; c < tables_.size(); ++c) {
    for (int byte = 0; byte < 256; ++byte) {
      tables_[c][std::size_t(byte)] = float((byte / unit - means_[c]) / deviations_[c]);
    }
  }
  if (tables_.size() != 1 && tables_.size() != lines_.size()) return;
  lines_are_tables_ = true;
  for (std::size_t c = 0; c < lines_.size(); ++c) {
    const std::size_t at = of_channel(std::int64_t(c));
    lines_[c] = {.factor = 1 / (unit * deviations_[at]), .offset = -means_[at] / deviations_[at]};
    for (int byte = 0; byte < 256; ++byte) {
      const auto value = float(std::fma(byte, lines_[c].factor, lines_[c].offset));
      lines_are_tables_ = lines_are_tables_ && value == tables_[at][std::size_t(byte)];
    }
  }
}

void Normaliser::expect_channels(std::int64_t channels) const {
  if (means_.size() == 1 || channels == std::int64_t(means_.size())) return;
  throw ShapeError(
      fmt::format("the image has {} channels, but {} means are given; give one for "
                  "each channel, or one for all",
                  channels, means_.size()));
}

void Normaliser::run(const SampleView& bytes, const SampleView& out) const {
  const std::int64_t pixels = bytes.sizes[0] * bytes.sizes[1], channels = bytes.sizes[2];
  expect_channels(channels);
  const std::uint8_t* from = bytes.as<std::uint8_t>();
  float* to = out.as<float>();
  static const auto planes = pixel_loops().planes;
  if (channels == 3 && lines_are_tables_ && planes) return planes(from, pixels, lines_, to);
  if (channels == 3) {
    const auto &red = tables_[of_channel(0)], &green = tables_[of_channel(1)],
               &blue = tables_[of_channel(2)];
    for (std::int64_t i = 0; i < pixels; ++i, from += 3) {
      to[i] = red[from[0]];
      to[i + pixels] = green[from[1]];
      to[i + 2 * pixels] = blue[from[2]];
    }
    return;
  }
  for (std::int64_t c = 0; c < channels; ++c) {
    const auto& table = tables_[of_channel(c)];
    for (std::int64_t i = 0; i < pixels; ++i) *to++ = table[from[i * channels + c]];
  }
}

void Normaliser::run(const SampleView& floats) const {
  const std::int64_t channels = floats.sizes[0], pixels = floats.sizes[1] * floats.sizes[2];
  expect_channels(channels);
  float* value = floats.as<float>();
  for (std::int64_t c = 0; c < channels; ++c) {
    const auto mean = float(means_[of_channel(c)]), deviation = float(deviations_[of_channel(c)]);
    for (std::int64_t i = 0; i < pixels; ++i, ++value) *value = (*value - mean) / deviation;
  }
}

}  // namespace d5::detail
