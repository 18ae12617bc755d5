// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "d5/prediction/calibration/cluster_calibration.hpp"

namespace d5 {
namespace {

/// The line latency + bytes * seconds_a_byte with the sum of squares of its relative errors;
/// infinite without a positive bandwidth.
struct MessageLine {
  double latency = 0, seconds_a_byte = 0;
  double squares = std::numeric_limits<double>::infinity();
};

MessageLine line_through(std::span<const TimedMessage> messages) {
  // With t = L + s / B, minimise the sum of (L / t + s / t / B - 1)^2.
  double aa = 0, ab = 0, bb = 0, a = 0, b = 0;
  for (const auto& [bytes, seconds] : messages) {
    if (!(seconds > 0)) {
      throw ValueError(
          fmt::format("calibration: {} bytes in {} s; expected more than 0", bytes, seconds));
    }
    const double x = 1 / seconds, y = static_cast<double>(bytes) / seconds;
    aa += x * x, ab += x * y, bb += y * y, a += x, b += y;
  }
  const double determinant = aa * bb - ab * ab;
  if (messages.size() < 2 || !(determinant > 0)) return {};
  MessageLine line{.latency = (a * bb - b * ab) / determinant,
                   .seconds_a_byte = (b * aa - a * ab) / determinant};
  if (line.latency < 0) line = {.latency = 0, .seconds_a_byte = b / bb};
  if (!(line.seconds_a_byte > 0)) return {};
  line.squares = 0;
  for (const auto& [bytes, seconds] : messages) {
    const double error =
        (line.latency + static_cast<double>(bytes) * line.seconds_a_byte) / seconds - 1;
    line.squares += error * error;
  }
  return line;
}

/// The best segmentation of `messages` into lines: the start of each; the last is the end.
struct Cut {
  std::vector<std::size_t> begins = {0};
  double squares = std::numeric_limits<double>::infinity();
};

Cut best_cut(std::span<const TimedMessage> messages, int lines) {
  constexpr std::size_t kFewest = 3;
  Cut best;
  if (lines == 1) {
    best.squares = line_through(messages).squares;
    return best;
  }
  for (std::size_t at = kFewest; at + kFewest <= messages.size(); ++at) {
    const Cut before = best_cut(messages.first(at), lines - 1);
    const double squares = before.squares + line_through(messages.subspan(at)).squares;
    if (!(squares < best.squares)) continue;
    best = before;
    best.begins.push_back(at);
    best.squares = squares;
  }
  return best;
}

}  // namespace

ClusterDescription fit_cluster(std::span<const TimedMessage> messages, const std::string& name,
                               const std::string& source) {
  return fit_segments(messages, name, source, 1);
}

ClusterDescription fit_segments(std::span<const TimedMessage> messages, const std::string& name,
                                const std::string& source, int segments) {
  constexpr double kSmallError = 0.01;  // errors below it need no further line
  const auto count = static_cast<double>(messages.size());
  Cut chosen = best_cut(messages, 1);
  // Bayesian information criterion (BIC): a line has three parameters, latency, bandwidth and
  // begin.
  const auto score = [&](const Cut& cut) {
    return count * std::log(cut.squares / count + kSmallError * kSmallError) +
           3 * static_cast<double>(cut.begins.size()) * std::log(count);
  };
  for (int lines = 2; lines <= segments; ++lines) {
    const Cut cut = best_cut(messages, lines);
    if (score(cut) < score(chosen)) chosen = cut;
  }
  if (std::isinf(chosen.squares)) {
    throw ValueError(
        fmt::format("calibration: no bandwidth fits {} messages; give sizes that lie further apart",
                    messages.size()));
  }
  ClusterDescription cluster;
  cluster.name = name;
  cluster.hosts = 1'000'000;
  for (std::size_t i = 0; i < chosen.begins.size(); ++i) {
    const std::size_t begin = chosen.begins[i];
    const std::size_t end = i + 1 < chosen.begins.size() ? chosen.begins[i + 1] : messages.size();
    const MessageLine line = line_through(messages.subspan(begin, end - begin));
    if (i == 0) {
      cluster.latency = {line.latency, source};
      cluster.bandwidth = {1 / line.seconds_a_byte, source};
    } else {
      cluster.segments.push_back(
          {messages[begin].bytes, line.latency, 1 / line.seconds_a_byte, source});
    }
  }
  return cluster;
}

MessageEndCost fit_message_ends(std::span<const TimedMessage> ends) {
  if (ends.empty()) return {};
  // Candidates are lines through two points, constant ones, and those that begin at the smallest
  // message's time or at 0; the best has the least sum of relative errors. Times of 0 were below
  // the noise and are ignored.
  const double most = std::max(0.0, ends.front().seconds);
  MessageEndCost best{.seconds = most};
  double least = std::numeric_limits<double>::infinity();
  const auto consider = [&](double seconds, double seconds_a_byte) {
    const MessageEndCost cost{.seconds = std::clamp(seconds, 0.0, most),
                              .seconds_a_byte = std::max(0.0, seconds_a_byte)};
    double errors = 0;
    for (const auto& [bytes, measured] : ends) {
      if (!(measured > 0)) continue;
      errors += std::abs(
          (cost.seconds + static_cast<double>(bytes) * cost.seconds_a_byte) / measured - 1);
    }
    if (errors < least) least = errors, best = cost;
  };
  for (const TimedMessage& one : ends) {
    const auto bytes = static_cast<double>(one.bytes);
    consider(one.seconds, 0);
    if (bytes > 0) consider(0, one.seconds / bytes), consider(most, (one.seconds - most) / bytes);
    for (const TimedMessage& other : ends) {
      if (other.bytes <= one.bytes) continue;
      const double each =
          (other.seconds - one.seconds) / static_cast<double>(other.bytes - one.bytes);
      consider(one.seconds - bytes * each, each);
    }
  }
  return best;
}

}  // namespace d5
