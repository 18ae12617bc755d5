// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <limits>
#include <stop_token>
#include <string>

#include "d5/core/errors/error.hpp"

namespace d5 {

/// What ends long work before its time: somebody's wish, or a deadline. Long work asks `due` where
/// it can end: between two runs, batches, steps. By default nothing ends it.
///
///     std::stop_source stop;
///     measure(subjects, {"time"}, {.interrupt = {.token = stop.get_token()}});
///
/// Thread safety: all functions; the wish may come from any thread.
struct Interrupt {
  std::stop_token token = {};
  double deadline = std::numeric_limits<double>::infinity();  ///< s, on `now_seconds`'s clock
  /// A wish that somebody must be asked for, such as an interpreter that has signals of its own:
  /// called by `due`, on the thread that works. Once true it stays true.
  std::function<bool()> wished = {};

  /// Whether it was given anything.
  [[nodiscard]] bool possible() const;
  /// Costs three branches where nothing was given.
  [[nodiscard]] bool due() const;
  /// "interrupted", or "interrupted: the deadline passed".
  [[nodiscard]] std::string reason() const;
  /// Throws: Interrupted, if it is due; `who` begins the message.
  void check(const std::string& who) const;
};

/// Thrown by work that cannot end in an orderly way where it was interrupted, such as a run of a
/// network. Nobody's fault: what was measured before is kept.
class Interrupted : public Error {
  using Error::Error;
};

}  // namespace d5
