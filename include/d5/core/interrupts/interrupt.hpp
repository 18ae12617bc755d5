// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <limits>
#include <stop_token>
#include <string>

#include "d5/core/errors/error.hpp"

namespace d5 {

/// Ends long work early, by request or at a deadline. Long work polls `due` where it can end:
/// between two runs, batches or steps. The default never interrupts.
///
///     std::stop_source stop;
///     measure(subjects, {"time"}, {.interrupt = {.token = stop.get_token()}});
///
/// Thread safety: all functions; the request may come from any thread.
struct Interrupt {
  std::stop_token token = {};
  double deadline = std::numeric_limits<double>::infinity();  ///< s, on `now_seconds`'s clock
  /// Polled request, for example of an interpreter that handles signals itself: called by `due`, on
  /// the working thread. Once true, it must stay true.
  std::function<bool()> wished = {};

  /// Whether a token, a deadline or a polled request was given.
  [[nodiscard]] bool possible() const;
  /// Whether the work must end now. Costs three branches if nothing was given.
  [[nodiscard]] bool due() const;
  /// "interrupted", or "interrupted: the deadline passed".
  [[nodiscard]] std::string reason() const;
  /// Throws: Interrupted, if it is due; `who` begins the message.
  void check(const std::string& who) const;
};

/// Thrown by work that cannot return a partial result when interrupted, such as a run of a network.
/// It reports no failure: earlier measurements are kept.
class Interrupted : public Error {
  using Error::Error;
};

}  // namespace d5
