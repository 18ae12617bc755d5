// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <thread>
#include <vector>

namespace d5 {

/// While it lives, the first signal asks long work to stop, instead of ending the process; a second
/// one, also another of its signals, does what it did before. A signal that the process ignores
/// stays ignored.
///
///     const StopOnSignal stop(SIGINT);
///     trainer.run({.token = stop.token()});
///
/// The work is asked from a thread of its own, so that whoever listens to the token may do
/// anything.
class StopOnSignal {
 public:
  /// Throws: ValueError while another one lives, or for a signal that cannot be handled.
  explicit StopOnSignal(int signal) : StopOnSignal(std::vector{signal}) {}
  explicit StopOnSignal(std::vector<int> signals);
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

  [[nodiscard]] std::stop_token token() const { return stop_.get_token(); }
  /// The signal that came; 0: none yet.
  [[nodiscard]] int arrived() const;

 private:
  void end();
  std::stop_source stop_;
  std::jthread waiting_;
};

}  // namespace d5
