// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "d5/level3_distributed/decorators/call_timeout.hpp"

namespace d5::detail {

class JointEnd;

/// A call that a rank may wait in.
struct WatchedCall {
  CallKind kind = CallKind::barrier;
  std::int64_t number = 0;  ///< number among the group's collectives, from 1; 0: send or receive
  int peer = kAnyRank;
  Tensor data = {};
  bool in_memory = false;  ///< not a transport call, so its polls do not progress other calls
};

/// Watches this rank's waits in the calls of one group, and receives the other ranks' messages
/// about theirs.
class CallWatch {
 public:
  /// `all` watches the parent communicator; its failures also count here. May be null.
  CallWatch(Communicator& group, std::shared_ptr<Communicator> notices,
            const CallTimeoutOptions& options, std::shared_ptr<CallWatch> all);
  ~CallWatch();
  /// Called after an unsuccessful poll. Throws: CommunicationError at the timeout.
  void looked(const WatchedCall& call);
  /// Called on completion: ends the wait.
  void progressed();
  /// Implements `CallTimeout::tell_failure`.
  void tell_failure();
  /// The joint end of the outermost group.
  [[nodiscard]] JointEnd& joint_end() { return all_ ? all_->joint_end() : *end_; }
  void forget_failures() {
    ++failures_forgotten_;
    first_failed_ = -1;
  }

 private:
  using Time = std::chrono::nanoseconds;
  struct Ear;
  void move_transport_on();
  void begin_listening();
  void tell(const WatchedCall& call);
  void send(const Tensor& notice);
  void listen();
  void expect_all_well(const WatchedCall& call);
  /// The rank, in the outermost group, whose failure was reported.
  [[nodiscard]] std::optional<int> failed();
  void report(const WatchedCall& call);
  [[nodiscard]] std::string whereabouts() const;
  [[nodiscard]] std::string place_of(const WatchedCall& call) const;
  [[nodiscard]] std::string line(const WatchedCall& call, const std::string& words) const;

  Communicator& group_;
  std::shared_ptr<Communicator> notices_;
  const CallTimeoutOptions& options_;
  std::shared_ptr<CallWatch> all_;
  std::unique_ptr<JointEnd> end_;  // null in a group
  std::chrono::steady_clock::time_point last_look_, last_end_heard_;
  Time waited_{0}, next_notice_{0}, last_listened_{0}, next_report_{0};
  bool listening_ = false;
  int looks_in_memory_ = 0;
  std::int64_t failures_forgotten_ = 0;
  int first_failed_ = -1;                   // the first reported failure
  std::shared_ptr<Ear> unused_ear_;         // receives nothing
  std::vector<std::shared_ptr<Ear>> ears_;  // one for each rank, none for this one
  std::vector<std::shared_ptr<Request>> told_;
};

}  // namespace d5::detail
