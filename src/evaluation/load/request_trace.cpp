// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/load/request_trace.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include "d5/core/errors/error.hpp"
#include "evaluation/load/recorded_turns.hpp"
#include "evaluation/load/trace_format.hpp"

namespace d5 {
namespace {

using detail::TraceEntry;
using detail::TraceLine;

/// The lines of a file, without their ends.
class TraceLines {
 public:
  explicit TraceLines(const std::string& file) : file_(file), in_(file, std::ios::binary) {
    if (!in_ || std::filesystem::is_directory(file)) {
      throw IoError(fmt::format("arrivals: {} cannot be read", printable(file)));
    }
  }
  /// Moves to the next line that is not empty. Returns false at the end.
  bool next() {
    constexpr std::string_view kMark = "\xEF\xBB\xBF";  // some programs begin UTF-8 with it
    while (read_line()) {
      ++number_;
      if (number_ == 1 && text_.starts_with(kMark)) text_.erase(0, kMark.size());
      if (!text_.empty() && text_.back() == '\r') text_.pop_back();
      if (!text_.empty()) return true;
    }
    return false;
  }
  [[nodiscard]] TraceLine line() const { return {file_, number_, text_}; }

 private:
  bool read_line() {
    constexpr std::size_t kMost = std::size_t(1) << 24;  // a million ids of blocks
    text_.clear();
    std::streambuf& bytes = *in_.rdbuf();
    for (int byte; (byte = bytes.sbumpc()) != std::char_traits<char>::eof();) {
      if (byte == '\n') return true;
      if (text_.size() == kMost) {
        throw FormatError(
            fmt::format("{}:{}: the line is longer than {} MB, expected a request a "
                        "line",
                        printable(file_), number_ + 1, kMost >> 20));
      }
      text_ += char(byte);
    }
    return !text_.empty();
  }

  const std::string& file_;
  std::ifstream in_;
  std::int64_t number_ = 0;
  std::string text_;
};

void expect_valid(const RecordingOptions& options) {
  const auto expect = [](bool fits, const std::string& given, const char* expected) {
    if (!fits) throw ValueError(fmt::format("arrivals: {}, expected {}", given, expected));
  };
  const auto& [file, speed, from, to, loop, rate, most, block] = options;
  expect(speed > 0 && std::isfinite(speed), fmt::format("speed is {}", speed), "a positive number");
  expect(rate >= 0 && std::isfinite(rate), fmt::format("rate is {}", rate), "0 or more");
  expect(rate == 0 || speed == 1, fmt::format("rate is {} and speed {}", rate, speed),
         "one of them");
  expect(from >= 0 && (to == 0 || to > from), fmt::format("cut from {} to {} s", from, to),
         "0 or more and a later end");
  expect(most >= 0 && block >= 1, fmt::format("most is {} and block {}", most, block),
         "0 requests or more, and 1 token or more");
}

/// The chosen requests, at the times of the file since its first.
detail::TraceOfTurns chosen_part(const RecordingOptions& options, double& lasts) {
  TraceLines lines(options.file);
  detail::TraceOfTurns chosen;
  RequestTrace& trace = chosen.trace;
  std::unique_ptr<detail::TraceFormat> format;
  std::optional<double> first;
  std::string last_time;
  double last = 0;
  while (lines.next()) {
    const TraceLine line = lines.line();
    if (!format) {
      format = detail::trace_format(line, options.block);
      trace.format = format->name();
    }
    TraceEntry entry;
    if (!format->read(line, entry)) continue;
    if (!first) first = last = entry.seconds;
    if (entry.seconds < last) {
      line.fail(entry.place,
                fmt::format("{} comes after {}; expected ascending moments: sort the lines by them",
                            printable(entry.time), last_time));
    }
    last = entry.seconds;
    last_time = printable(entry.time);
    lasts = last - *first;
    const bool has_failed =
        trace.has_lengths() && (entry.prompt_tokens == 0 || entry.answer_tokens == 0);
    if (!has_failed && !entry.session.empty()) {
      chosen.turns.add(entry.session, {.line = line.number,
                                       .prompt_tokens = entry.prompt_tokens,
                                       .answer_tokens = entry.answer_tokens});
    }
    if (lasts < options.from) continue;
    if (options.to > 0 && lasts >= options.to) break;
    if (has_failed) {
      ++trace.left_out;
      continue;
    }
    trace.requests.push_back({.at = lasts,
                              .line = line.number,
                              .prompt_tokens = entry.prompt_tokens,
                              .answer_tokens = entry.answer_tokens,
                              .first_block = trace.blocks.size(),
                              .blocks = entry.blocks.size()});
    trace.blocks.insert(trace.blocks.end(), entry.blocks.begin(), entry.blocks.end());
    if (options.most > 0 && std::int64_t(trace.requests.size()) == options.most) break;
  }
  if (!first) {
    throw FormatError(fmt::format("{}: has no moments, expected one a line, or a trace of requests",
                                  printable(options.file)));
  }
  return chosen;
}

}  // namespace

RequestTrace read_trace(const RecordingOptions& options) {
  return detail::read_trace_of_turns(options).trace;
}

detail::TraceOfTurns detail::read_trace_of_turns(const RecordingOptions& options) {
  expect_valid(options);
  double lasts = 0;
  TraceOfTurns chosen = chosen_part(options, lasts);
  RequestTrace& trace = chosen.trace;
  const std::string file = printable(options.file);
  if (trace.requests.empty()) {
    throw ValueError(fmt::format(
        "arrivals: {} has nothing from {} s on{}{}; it lasts {} s", file, options.from,
        options.to > 0 ? fmt::format(" and before {} s", options.to) : "",
        trace.left_out > 0
            ? fmt::format(" but {} requests without a prompt or an answer", trace.left_out)
            : "",
        lasts));
  }
  auto& requests = trace.requests;
  const double length = requests.back().at - requests.front().at;
  if (length == 0 && (options.rate > 0 || options.loop)) {
    throw ValueError(fmt::format("arrivals: {} is one moment, which {}", file,
                                 options.rate > 0 ? "has no rate" : "cannot be looped"));
  }
  const double faster =
      options.rate > 0 ? options.rate * length / double(requests.size() - 1) : options.speed;
  for (TracedRequest& request : requests) request.at = (request.at - options.from) / faster;
  constexpr double kMostSeconds =
      1e15;  // thirty million years, in which doubles tell seconds apart
  if (!(requests.back().at <= kMostSeconds)) {
    throw ValueError(fmt::format("arrivals: the last of {} comes after {} s, expected at most {}",
                                 file, requests.back().at, kMostSeconds));
  }
  return chosen;
}

}  // namespace d5
