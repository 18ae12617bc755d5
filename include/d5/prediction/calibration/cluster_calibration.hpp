// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "d5/core/tables/text_table.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/prediction/networks/cluster_description.hpp"
#include "d5/prediction/profile/rank_rates.hpp"

namespace d5 {

/// A measured time on real ranks. Units: bytes of one rank's data, s.
struct TimedMessage {
  std::int64_t bytes = 0;
  double seconds = 0;
};

/// Ping-pong: half the round-trip time of a message between ranks 0 and 1 for each size, while
/// other ranks wait. The median of `repetitions`, or of as many as fit into half a second, but at
/// least five. Returns the same on every rank. A collective.
/// Throws: ValueError for fewer than 2 ranks, no repetition or a size that is not a multiple of 4.
[[nodiscard]] std::vector<TimedMessage> time_messages(Communicator& ranks,
                                                      std::span<const std::int64_t> sizes,
                                                      int repetitions);
/// Time of an all-reduce by `algorithm` for each size: the median of the slowest rank's times.
/// Otherwise as `time_messages`.
[[nodiscard]] std::vector<TimedMessage> time_all_reduces(Communicator& ranks,
                                                         const std::string& algorithm,
                                                         std::span<const std::int64_t> sizes,
                                                         int repetitions);

/// Options for measuring the CPU overhead per message. `compute` is some work of about 0.1 ms
/// without memory accesses and messages; empty: d5's own.
struct MessageEndOptions {
  int repetitions = 20;
  std::function<void()> compute = {};
  double look = 0;  ///< time of an unsuccessful poll (`time_looks`), which is subtracted; s
};
/// CPU overhead per message (LogGP's o) for each size. Each rank sends a message to its right
/// neighbour, receives one from its left, computes, and polls both after each piece of work, as
/// schemes do. The result is half of the additional time: the median, then the mean over ranks. All
/// ranks do this at the same time. Otherwise as `time_messages`.
[[nodiscard]] std::vector<TimedMessage> time_message_ends(Communicator& ranks,
                                                          std::span<const std::int64_t> sizes,
                                                          const MessageEndOptions& options = {});

/// Time of one poll for a message that is not there yet, as schemes do at each gradient: the
/// median, then the mean over ranks. All ranks do this at the same time. Units: s. Otherwise as
/// `time_messages`.
[[nodiscard]] double time_looks(Communicator& ranks, int repetitions);
/// Time of a shift for each size: all ranks at once send a message to their right neighbour and
/// receive one from their left. The median of the slowest rank's times. Otherwise as
/// `time_messages`.
[[nodiscard]] std::vector<TimedMessage> time_shifts(Communicator& ranks,
                                                    std::span<const std::int64_t> sizes,
                                                    int repetitions);
/// Time until a rank sees another rank's write to shared memory: half the round trip between ranks
/// 0 and 1; 0 if ranks share no memory. Units: s. Otherwise as `time_messages`.
[[nodiscard]] double time_signals(Communicator& ranks, int repetitions);

/// Fits latency + bytes / bandwidth by least squares of the relative errors, so that small and
/// large messages have equal weight.
/// Throws: ValueError for fewer than two sizes, times that are not positive, and if no positive
/// bandwidth fits.
[[nodiscard]] ClusterDescription fit_cluster(std::span<const TimedMessage> messages,
                                             const std::string& name, const std::string& source);

/// Fits a piecewise linear model: at most `segments` lines, each for three sizes or more, and as
/// few as explain the times up to the variation of a repetition. `messages` are sorted by size,
/// without duplicates.
[[nodiscard]] ClusterDescription fit_segments(std::span<const TimedMessage> messages,
                                              const std::string& name, const std::string& source,
                                              int segments = 3);

/// CPU overhead of a message at each end: seconds + bytes * seconds_a_byte. The fit has the least
/// sum of absolute relative errors, so that a disturbed size has little influence; `seconds` is at
/// most the time of the smallest message.
struct MessageEndCost {
  double seconds = 0, seconds_a_byte = 0;
};
[[nodiscard]] MessageEndCost fit_message_ends(std::span<const TimedMessage> ends);

/// A measurement that the fit has not seen, and its prediction.
struct HeldOutTime {
  std::string what;  ///< "message", "all-reduce ring"
  int ranks = 2;
  TimedMessage measured;
  double predicted = 0;
  [[nodiscard]] double error() const { return predicted / measured.seconds - 1; }
};
struct ClusterCalibration {
  ClusterDescription cluster;
  std::vector<HeldOutTime> held_out = {};
};
struct CalibrationOptions {
  static constexpr int kParts = 7;
  std::int64_t least_bytes = 64, most_bytes = std::int64_t{16} << 20;  ///< range of message sizes
  int repetitions = 100;
  MessageEndOptions ends = {};
  RankRateOptions rates = {};
  std::function<void()> on_part = {};  ///< called after each of the `kParts` parts
};
/// Measured times of real ranks. Message sizes are each power of two between the bounds and the
/// middle to the next. Some of these sizes are also measured for `ends` and `shifts`. All-reduces
/// (ring, and through shared memory) have powers of two from 16 KiB on.
struct ClusterTimes {
  int ranks = 2;
  std::string medium;  ///< `Communicator::medium`
  std::vector<TimedMessage> messages = {}, ends = {}, shifts = {}, all_reduces = {};
  std::vector<TimedMessage> in_memory = {};  ///< all-reduces by node_memory, if ranks share memory
  double look = 0;                           ///< `time_looks`
  double signal = 0;                         ///< `time_signals`; 0: ranks share no memory
  RankRates rates = {};
};
/// Measures all times; returns the same on every rank. A collective.
/// Throws: as the functions above; ValueError for bounds with fewer than four sizes between them.
[[nodiscard]] ClusterTimes time_cluster(Communicator& ranks, const CalibrationOptions& options);
/// Fits a cluster to every other message size, and validates it with the sizes in between and with
/// simulated all-reduces. Latency is a message's time minus the CPU overhead at both ends.
/// Throws: as `fit_cluster`.
[[nodiscard]] ClusterCalibration calibrate_cluster(const ClusterTimes& times,
                                                   const std::string& name);
[[nodiscard]] TextTable calibration_table(const ClusterCalibration& calibration);

/// Former names, for one release.
using NetworkCalibration [[deprecated("d5::ClusterCalibration")]] = ClusterCalibration;
using NetworkTimes [[deprecated("d5::ClusterTimes")]] = ClusterTimes;
[[nodiscard, deprecated("d5::fit_cluster")]] inline ClusterDescription fit_network(
    std::span<const TimedMessage> messages, const std::string& name, const std::string& source) {
  return fit_cluster(messages, name, source);
}
[[nodiscard, deprecated("d5::time_cluster")]] inline ClusterTimes time_network(
    Communicator& ranks, const CalibrationOptions& options) {
  return time_cluster(ranks, options);
}
[[nodiscard, deprecated("d5::calibrate_cluster")]] inline ClusterCalibration calibrate_network(
    const ClusterTimes& times, const std::string& name) {
  return calibrate_cluster(times, name);
}

}  // namespace d5
