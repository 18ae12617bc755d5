// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace d5::testing {

/// A WAV file of 16-bit samples, the channels of a time together.
///
/// Source: IBM and Microsoft, "Multimedia Programming Interface and Data Specifications 1.0"
/// (1991).
inline std::string wav_file(const std::vector<std::int16_t>& samples, std::uint32_t rate,
                            std::uint32_t channels = 1) {
  std::string bytes;
  const auto put = [&](std::uint32_t value, int count) {
    for (int i = 0; i < count; ++i) bytes += char(value >> (8 * i) & 0xff);
  };
  const auto size = std::uint32_t(2 * samples.size());
  bytes += "RIFF";
  put(36 + size, 4);
  bytes += "WAVEfmt ";
  put(16, 4);
  put(1, 2);  // integers
  put(channels, 2);
  put(rate, 4);
  put(2 * channels * rate, 4);
  put(2 * channels, 2);
  put(16, 2);
  bytes += "data";
  put(size, 4);
  for (const std::int16_t sample : samples) put(std::uint16_t(sample), 2);
  return bytes;
}

}  // namespace d5::testing
