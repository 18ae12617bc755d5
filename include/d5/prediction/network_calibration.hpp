// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "d5/core/text_table.hpp"
#include "d5/level3_distributed/communicator.hpp"
#include "d5/prediction/network_description.hpp"

namespace d5 {

/// How long something took on real ranks. Units: bytes of one rank's data, s.
struct TimedMessage {
  std::int64_t bytes = 0;
  double seconds = 0;
};

/// A message from rank 0 to rank 1, half of the way there and back, the median of `repetitions`;
/// other ranks wait. The same on every rank: a collective. Throws: ValueError for fewer than 2
/// ranks, no repetition or a size that is no multiple of 4.
[[nodiscard]] std::vector<TimedMessage> time_messages(Communicator& ranks,
                                                      std::span<const std::int64_t> sizes,
                                                      int repetitions);
/// An all-reduce by `algorithm`, the median of the slowest rank's times. As above.
[[nodiscard]] std::vector<TimedMessage> time_all_reduces(Communicator& ranks,
                                                         const std::string& algorithm,
                                                         std::span<const std::int64_t> sizes,
                                                         int repetitions);

/// Latency and bandwidth with which latency + bytes / bandwidth comes closest: least squares of
/// relative errors, so that small messages count as large ones do. Throws: ValueError for fewer
/// than two sizes, times that are not above 0, and where no positive bandwidth fits.
[[nodiscard]] NetworkDescription fit_network(std::span<const TimedMessage> messages,
                                             const std::string& name, const std::string& source);

/// A measurement that the fit has not seen, beside what the network says of it.
struct HeldOutTime {
  std::string what;  ///< "message", "all-reduce ring"
  int ranks = 2;
  TimedMessage measured;
  double predicted = 0;
  [[nodiscard]] double error() const { return predicted / measured.seconds - 1; }
};
struct NetworkCalibration {
  NetworkDescription network;
  std::vector<HeldOutTime> held_out;
};
struct CalibrationOptions {
  std::int64_t least_bytes = 64, most_bytes = std::int64_t{4} << 20;  ///< of messages
  int repetitions = 50;
  std::function<void()> on_part = {};  ///< called after each of two parts
};
/// What real ranks took: messages of sizes that double between two bounds, and all-reduces by the
/// ring of those from 16 KiB on.
struct NetworkTimes {
  int ranks = 2;
  std::string medium;  ///< `Communicator::medium`
  std::vector<TimedMessage> messages, all_reduces;
};
/// The same on every rank: a collective. Throws: as those above; ValueError for bounds that hold
/// fewer than four sizes.
[[nodiscard]] NetworkTimes time_network(Communicator& ranks, const CalibrationOptions& options);
/// Fits a network to messages of every other size, and holds it against the sizes in between and
/// against the all-reduces, which are simulated. Throws: as `fit_network`.
[[nodiscard]] NetworkCalibration calibrate_network(const NetworkTimes& times,
                                                   const std::string& name);
[[nodiscard]] TextTable calibration_table(const NetworkCalibration& calibration);

}  // namespace d5
