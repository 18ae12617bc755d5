// SPDX-License-Identifier: Apache-2.0
#include "d5/core/screen/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "core/tables/column_layout.hpp"
#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/screen/screen.hpp"

namespace d5 {
namespace {

std::atomic<bool> silent = false;

constexpr double kSecondsOnTerminal = 0.1, kSecondsElsewhere = 10;
constexpr const char* kClearLine = "\r\x1b[K";

/// "45 s", "3 min 05 s", "2 h 10 min".
std::string duration(double seconds) {
  const auto whole = std::int64_t(seconds + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

}  // namespace

void Progress::set_quiet(bool quiet) { silent = quiet; }

Progress::Progress(std::string what, std::int64_t total, ProgressOptions options)
    : what_(printable(what)), total_(total), options_(std::move(options)) {
  if (!options_.clock) options_.clock = now_seconds;
  terminal_ = options_.terminal.value_or(isatty(fileno(options_.stream)) == 1);
  begin_ = options_.clock();
  next_ = begin_ + (terminal_ ? kSecondsOnTerminal : kSecondsElsewhere);
}

Progress::~Progress() { hide(); }

void Progress::hide() {
  if (!std::exchange(line_is_open_, false)) return;
  std::fputs(kClearLine, options_.stream);
  std::fflush(options_.stream);
}

void Progress::advance(std::int64_t count) {
  done_ += count;
  const double now = options_.clock();
  if (now < next_ || silent) return;
  next_ = now + (terminal_ ? kSecondsOnTerminal : kSecondsElsewhere);
  print(now);
}

void Progress::begin_piece(std::int64_t steps, double most_seconds) {
  piece_ = {
      .begin = options_.clock(), .most_seconds = most_seconds, .before = done_, .steps = steps};
}

/// The steps that are done or will be skipped: the finished ones, and those that the present piece
/// will omit because of its time limit.
double Progress::covered(double now) const {
  const double share = std::min(1.0, (now - piece_.begin) / piece_.most_seconds);
  return std::max(double(done_), double(piece_.before) + share * double(piece_.steps));
}

void Progress::print(double now) {
  const double rate = double(done_) / (now - begin_);
  std::string line = what_ + ": ";
  line += total_ > 0 ? fmt::format("{}/{} {}", done_, total_, options_.unit)
                     : fmt::format("{} {}", done_, options_.unit);
  line += fmt::format(", {:.3g}/s", rate);
  const double steps = covered(now);
  if (total_ > done_ && steps > 0) {
    const double left = (now - begin_) * (double(total_) - steps) / steps;
    line += fmt::format(", {} left", duration(std::max(0.0, left)));
  }
  if (!note_.empty()) line += ", " + printable(note_);
  if (terminal_) {
    // A line as wide as the terminal may already wrap the cursor.
    const auto room = std::size_t(screen_of(fileno(options_.stream)).width - 1);
    line = kClearLine + std::string(detail::first_characters(line, room));
  } else {
    line += '\n';
  }
  std::fputs(line.c_str(), options_.stream);
  std::fflush(options_.stream);
  line_is_open_ = terminal_;
}

}  // namespace d5
