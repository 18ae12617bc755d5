// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace d5 {

/// The moments at which queries arrive: seconds from the beginning, each not before the last.
/// Nothing ends the stream but a recording.
class ArrivalStream {
 public:
  virtual ~ArrivalStream() = default;
  [[nodiscard]] virtual std::optional<double> next() = 0;
};

/// At i / rate, to the last bit. Units: queries a second. Throws: ValueError, as all of these, for
/// a rate that is not positive and finite.
[[nodiscard]] std::unique_ptr<ArrivalStream> constant_arrivals(double rate);

/// A Poisson process: gaps are exponential, whoever comes knows of nobody else.
[[nodiscard]] std::unique_ptr<ArrivalStream> poisson_arrivals(double rate, std::uint64_t seed);

/// Gaps are gamma distributed with mean 1 / rate and `variation`, their standard deviation over
/// their mean: 1 is Poisson, below it more even, above it in clusters.
/// Source: Marsaglia and Tsang, "A Simple Method for Generating Gamma Variables" (2000).
[[nodiscard]] std::unique_ptr<ArrivalStream> gamma_arrivals(double rate, double variation,
                                                            std::uint64_t seed);

/// Bursts: a Poisson process that is switched on and off, for times that are exponential.
struct BurstOptions {
  double rate = 0;         ///< queries a second while it is on
  double on_seconds = 0;   ///< mean length of a burst
  double off_seconds = 0;  ///< mean length of a silence
};
/// It begins within a burst, as right after an arrival: the first gap is as all others.
/// Source: Kuczura, "The Interrupted Poisson Process as an Overflow Process" (1973).
[[nodiscard]] std::unique_ptr<ArrivalStream> burst_arrivals(const BurstOptions& options,
                                                            std::uint64_t seed);

/// What was recorded elsewhere: a CSV file whose first column has seconds, ascending, below a
/// header or none. The first one counts as 0.
struct RecordingOptions {
  std::string file = {};
  double speed = 1;         ///< 2: in half the time
  double from = 0, to = 0;  ///< s of the recording that are kept; `to` 0: to its end
  bool loop = false;        ///< from the beginning again, a mean gap after the last one
};
/// Throws: IoError; FormatError with file and line; ValueError.
[[nodiscard]] std::unique_ptr<ArrivalStream> recorded_arrivals(const RecordingOptions& options);

}  // namespace d5
