// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "d5/level3_distributed/communicator/communicator_decorator.hpp"

namespace d5 {
namespace detail {
class NodeCalls;
}

struct CallTimeoutOptions {
  /// Longest wait; 0: unlimited, with reports.
  std::chrono::nanoseconds timeout{0};
  /// Time until the first report of a wait without timeout; doubled for each further report.
  std::chrono::nanoseconds report_after = std::chrono::seconds(30);
  /// Receives the reports; empty: stderr.
  std::function<void(const std::string&)> say = {};
};

/// Ends or reports waits that take too long, and names the missing ranks.
///
/// A waiting rank tells the others in which call it waits: after half a second (or a quarter of the
/// timeout), then each quarter. A rank without such a message is missing: it computes, is stopped,
/// hangs, or is gone.
///
///     rank 0: all_reduce of 1000 x float32, number 12 of world, at training step 7: 10 s are over;
///     not there: rank 1; rank 2 waits in all_reduce number 12
///
/// Polling `Request::done` without a pause of 100 ms counts as a wait.
///
/// Ranks of one node make blocking calls of up to 64 KiB through shared memory if nothing is
/// between this decorator and the transport, because calls of the library that can be watched are
/// slow.
///
/// Waits poll instead of blocking in the transport: the end of a wait longer than about a
/// millisecond is seen up to 0.1 ms late. A call that timed out stays in flight, with its tensors,
/// until the process ends.
///
/// Throws: CommunicationError. If a wait in a destructor takes too long, the job ends.
class CallTimeout final : public CommunicatorDecorator {
 public:
  /// A collective. Throws: ValueError for a negative timeout, and for a `report_after` of 0 or
  /// less.
  explicit CallTimeout(std::shared_ptr<Communicator> inner, CallTimeoutOptions options = {});
  ~CallTimeout() override;
  [[nodiscard]] std::chrono::nanoseconds longest_wait() const override { return options_.timeout; }
  [[nodiscard]] std::unique_ptr<Request> watch(const CommunicationCall& call,
                                               std::unique_ptr<Request> request) override;
  /// The other ranks' waits, on groups too, end with an error that names this rank, about half a
  /// second after they began (or a quarter of the timeout).
  void tell_failure() override;
  void forget_failures() override;
  /// A group shares the places with its parent communicator.
  [[nodiscard]] bool end_together(bool wishes) override;
  void answer_end() override;

 protected:
  [[nodiscard]] std::unique_ptr<Request> do_start(const CommunicationCall& call) override;
  void do_run(const CommunicationCall& call) override;
  [[nodiscard]] std::shared_ptr<Communicator> decorate(
      std::shared_ptr<Communicator> group) override;

 private:
  class Watch;
  class WatchedRequest;
  /// Constructs a group, whose waits also end at failures that `all` learns of.
  CallTimeout(std::shared_ptr<Communicator> group, const CallTimeoutOptions& options,
              std::shared_ptr<Watch> all);
  enum class Medium { calls, memory };
  [[nodiscard]] std::unique_ptr<Request> watched(const CommunicationCall& call,
                                                 std::unique_ptr<Request> request,
                                                 Medium medium = Medium::calls);
  CallTimeoutOptions options_;
  std::shared_ptr<Watch> watch_;
  std::unique_ptr<detail::NodeCalls> node_calls_;  // null: not used
  std::int64_t collectives_ = 0;
};

}  // namespace d5
