// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <thread>
#include <vector>

namespace d5 {

/// Turns the first signal into a stop request for long work, as long as this object lives. The
/// second signal, also a different one of the set, has its previous effect. A signal that the
/// process ignores stays ignored.
///
///     const StopOnSignal stop(SIGINT);
///     trainer.run({.token = stop.token()});
///
/// The stop request comes from a dedicated thread, not from a signal handler: callbacks of the
/// token may call any function.
class StopOnSignal {
 public:
  /// Throws: ValueError while another one lives, or for a signal that cannot be handled.
  explicit StopOnSignal(int signal) : StopOnSignal(std::vector{signal}) {}
  explicit StopOnSignal(std::vector<int> signals);
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

  [[nodiscard]] std::stop_token token() const { return stop_.get_token(); }
  /// The received signal; 0: none yet.
  [[nodiscard]] int arrived() const;

 private:
  void end();
  std::stop_source stop_;
  std::jthread waiting_;
};

}  // namespace d5
