// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "d5/core/tables/text_table.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/prediction/networks/network_description.hpp"
#include "d5/prediction/profile/rank_rates.hpp"

namespace d5 {

/// How long something took on real ranks. Units: bytes of one rank's data, s.
struct TimedMessage {
  std::int64_t bytes = 0;
  double seconds = 0;
};

/// A message from rank 0 to rank 1, half of the way there and back, the median of `repetitions`, or
/// of as many as half a second allows, but five; other ranks wait. The same on every rank: a
/// collective. Throws: ValueError for fewer than 2 ranks, no repetition or a size that is no
/// multiple of 4.
[[nodiscard]] std::vector<TimedMessage> time_messages(Communicator& ranks,
                                                      std::span<const std::int64_t> sizes,
                                                      int repetitions);
/// An all-reduce by `algorithm`, the median of the slowest rank's times. As above.
[[nodiscard]] std::vector<TimedMessage> time_all_reduces(Communicator& ranks,
                                                         const std::string& algorithm,
                                                         std::span<const std::int64_t> sizes,
                                                         int repetitions);

/// What a message costs the processor at each of its ends. `compute` is some work without memory
/// and without messages, of about a tenth of a millisecond; none: d5's own.
struct MessageEndOptions {
  int repetitions = 20;
  std::function<void()> compute = {};
  double look = 0;  ///< what asking in vain takes (`time_looks`), which is no end's; s
};
/// How much longer a rank computes while it sends a message of each size to its right neighbour and
/// receives one from its left, and asks for both after each piece of work, as schemes do: half of
/// that, the median, the mean over ranks. All ranks do so at the same time. As above.
[[nodiscard]] std::vector<TimedMessage> time_message_ends(Communicator& ranks,
                                                          std::span<const std::int64_t> sizes,
                                                          const MessageEndOptions& options = {});

/// Asking once, in vain, for a message that nobody has sent yet, as schemes do at each gradient:
/// the median, the mean over ranks. All ranks do so at the same time. Units: s. As above.
[[nodiscard]] double time_looks(Communicator& ranks, int repetitions);
/// Each rank sends a message of each size to its right neighbour and receives one from its left,
/// all at once: the median of the slowest rank's times. As above.
[[nodiscard]] std::vector<TimedMessage> time_shifts(Communicator& ranks,
                                                    std::span<const std::int64_t> sizes,
                                                    int repetitions);
/// Until a rank sees what another wrote into memory that they share: half of there and back,
/// between ranks 0 and 1; 0 where ranks share none. Units: s. As above.
[[nodiscard]] double time_signals(Communicator& ranks, int repetitions);

/// Latency and bandwidth with which latency + bytes / bandwidth comes closest: least squares of
/// relative errors, so that small messages count as large ones do. Throws: ValueError for fewer
/// than two sizes, times that are not above 0, and where no positive bandwidth fits.
[[nodiscard]] NetworkDescription fit_network(std::span<const TimedMessage> messages,
                                             const std::string& name, const std::string& source);

/// The same with several lines, each for messages of three sizes or more: at most `segments`, and
/// as few as explain the times but for what a repetition would change. Messages go by size, each
/// larger than the one before.
[[nodiscard]] NetworkDescription fit_segments(std::span<const TimedMessage> messages,
                                              const std::string& name, const std::string& source,
                                              int segments = 3);

/// What an end of a message takes: seconds + bytes * seconds_a_byte with the least sum of relative
/// errors, which a size that was disturbed does not move; never more than the shortest one's time.
struct MessageEndCost {
  double seconds = 0, seconds_a_byte = 0;
};
[[nodiscard]] MessageEndCost fit_message_ends(std::span<const TimedMessage> ends);

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
  std::vector<HeldOutTime> held_out = {};
};
struct CalibrationOptions {
  static constexpr int kParts = 7;
  std::int64_t least_bytes = 64, most_bytes = std::int64_t{16} << 20;  ///< of messages
  int repetitions = 100;
  MessageEndOptions ends = {};
  RankRateOptions rates = {};
  std::function<void()> on_part = {};  ///< called after each of `kParts`
};
/// What real ranks took: messages of sizes between two bounds, each power of two and the one half
/// way to the next; what some of them cost processors, and take where all send at once; looks and
/// signals; all-reduces by the ring, and through memory, of powers of two from 16 KiB on; and sums.
struct NetworkTimes {
  int ranks = 2;
  std::string medium;  ///< `Communicator::medium`
  std::vector<TimedMessage> messages = {}, ends = {}, shifts = {}, all_reduces = {};
  std::vector<TimedMessage> in_memory = {};  ///< all-reduces by node_memory, where ranks share one
  double look = 0;                           ///< `time_looks`
  double signal = 0;                         ///< `time_signals`; 0: ranks share no memory
  RankRates rates = {};
};
/// The same on every rank: a collective. Throws: as those above; ValueError for bounds that hold
/// fewer than four sizes.
[[nodiscard]] NetworkTimes time_network(Communicator& ranks, const CalibrationOptions& options);
/// Fits a network to messages of every other size, and holds it against the sizes in between and
/// against the all-reduces, which are simulated. Latency is what remains of a message's time beside
/// its ends. Throws: as `fit_network`.
[[nodiscard]] NetworkCalibration calibrate_network(const NetworkTimes& times,
                                                   const std::string& name);
[[nodiscard]] TextTable calibration_table(const NetworkCalibration& calibration);

}  // namespace d5
