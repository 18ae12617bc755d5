// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace d5 {

/// Arrival times of queries: seconds from the start, not decreasing. Only a recorded stream ends.
class ArrivalStream {
 public:
  virtual ~ArrivalStream() = default;
  [[nodiscard]] virtual std::optional<double> next() = 0;
};

/// Constant gaps: query i arrives at exactly i / rate. Units: queries/s.
/// Throws (all of these functions): ValueError for a rate that is not positive and finite.
[[nodiscard]] std::unique_ptr<ArrivalStream> constant_arrivals(double rate);

/// A Poisson process: gaps are independent and exponentially distributed.
[[nodiscard]] std::unique_ptr<ArrivalStream> poisson_arrivals(double rate, std::uint64_t seed);

/// Gamma-distributed gaps with mean 1 / rate and coefficient of variation `variation`: 1 is
/// Poisson, less is more even, more is clustered. Source: Marsaglia and Tsang, "A Simple Method for
/// Generating Gamma Variables" (2000).
[[nodiscard]] std::unique_ptr<ArrivalStream> gamma_arrivals(double rate, double variation,
                                                            std::uint64_t seed);

/// Bursts: a Poisson process that is switched on and off for exponentially distributed times.
struct BurstOptions {
  double rate = 0;         ///< queries/s during a burst
  double on_seconds = 0;   ///< mean length of a burst
  double off_seconds = 0;  ///< mean length of a silence
};
/// The stream begins within a burst, as if right after an arrival, so the first gap is distributed
/// like all others.
/// Source: Kuczura, "The Interrupted Poisson Process as an Overflow Process" (1973).
[[nodiscard]] std::unique_ptr<ArrivalStream> burst_arrivals(const BurstOptions& options,
                                                            std::uint64_t seed);

/// A recording of a service: a CSV file whose first column has ascending seconds, with or without
/// a header; or a trace of requests (`RequestTrace`). The first time counts as 0.
struct RecordingOptions {
  std::string file = {};
  double speed = 1;          ///< replay speed; 2: in half the time
  double from = 0, to = 0;   ///< kept part of the recording, in s; `to` 0: to its end
  bool loop = false;         ///< restart from the beginning, a mean gap after the last arrival
  double rate = 0;           ///< mean rate of the kept part, in place of `speed`; 0: none
  std::int64_t most = 0;     ///< number of first requests of the part that are kept; 0: all
  std::int64_t block = 512;  ///< tokens of a block of a Mooncake trace
};
/// The times of a recording. Throws: as `read_trace`.
[[nodiscard]] std::unique_ptr<ArrivalStream> recorded_arrivals(const RecordingOptions& options);

}  // namespace d5
