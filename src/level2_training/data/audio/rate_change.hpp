// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace d5::detail {

/// Change of a signal's sampling rate: a polyphase filter of sinc functions under a squared cosine
/// of six zero crossings, whose pass band ends at 0.99 of the lower Nyquist frequency.
///
/// Source: J. O. Smith, "Digital Audio Resampling Home Page"; as torchaudio.functional.resample
/// does by default.
class RateChange {
 public:
  /// Rates in samples per second. Throws: ValueError unless both are 1 to 768000.
  RateChange(std::int64_t from, std::int64_t to);

  [[nodiscard]] std::int64_t from() const { return from_; }
  [[nodiscard]] std::int64_t to() const { return to_; }
  /// ceil(samples * to / from).
  [[nodiscard]] std::int64_t length_of(std::int64_t samples) const;
  /// `out` has `length_of(in.size())` samples. Beyond its ends the signal is zero.
  void run(std::span<const float> in, std::span<float> out) const;

 private:
  std::int64_t from_, to_;
  std::int64_t step_, phases_;        ///< `from` and `to` without their common divisor
  std::int64_t taps_ = 0;             ///< number of samples that a phase weighs
  std::vector<std::int64_t> begins_;  ///< first sample of a phase's taps, relative to its block
  std::vector<double> weights_;       ///< phases x taps
};

}  // namespace d5::detail
