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
  /// How long a wait may take; 0: for ever, with reports.
  std::chrono::nanoseconds timeout{0};
  /// Without a timeout, the first report of a wait; the next after twice as long, and so on.
  std::chrono::nanoseconds report_after = std::chrono::seconds(30);
  /// Gets the reports; empty: stderr.
  std::function<void(const std::string&)> say = {};
};

/// Ends waits that take too long, or reports them, and says who is missing.
///
/// A rank that waits tells the others in what: after half a second (or a quarter of the timeout),
/// then each quarter. Who has told nothing is not there: it computes, was stopped, hangs, or is
/// gone.
///
///     rank 0: all_reduce of 1000 x float32, number 12 of world, at training step 7: 10 s are over;
///     not there: rank 1; rank 2 waits in all_reduce number 12
///
/// `Request::done`, asked again and again without a pause of 100 ms, is a wait too.
///
/// Ranks of one node make blocking calls of up to 64 KiB in its memory, if nothing is between this
/// decorator and the transport: a library's calls that can be watched are its slow ones.
///
/// Waits look instead of blocking in the transport: of one that takes longer than about a
/// millisecond the end is seen up to 0.1 ms late. A call that timed out stays under way, with its
/// tensors, until the process ends.
///
/// Throws: CommunicationError. Where a wait in a destructor takes too long, the job ends.
class CallTimeout final : public CommunicatorDecorator {
 public:
  /// A collective. Throws: ValueError for times below 0, reports after no time.
  explicit CallTimeout(std::shared_ptr<Communicator> inner, CallTimeoutOptions options = {});
  ~CallTimeout() override;
  [[nodiscard]] std::chrono::nanoseconds longest_wait() const override { return options_.timeout; }
  [[nodiscard]] std::unique_ptr<Request> watch(const CommunicationCall& call,
                                               std::unique_ptr<Request> request) override;
  /// What the others wait in, on a group too, ends with an error that names this rank, about half a
  /// second after it began (or a quarter of the timeout).
  void tell_failure() override;
  void forget_failures() override;
  /// A group's places are those of the communicator that it is a group of.
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
  /// Of a group: its waits hear of failures that `all` hears of, too.
  CallTimeout(std::shared_ptr<Communicator> group, const CallTimeoutOptions& options,
              std::shared_ptr<Watch> all);
  enum class Medium { calls, memory };
  [[nodiscard]] std::unique_ptr<Request> watched(const CommunicationCall& call,
                                                 std::unique_ptr<Request> request,
                                                 Medium medium = Medium::calls);
  CallTimeoutOptions options_;
  std::shared_ptr<Watch> watch_;
  std::unique_ptr<detail::NodeCalls> node_calls_;  // null where there are none
  std::int64_t collectives_ = 0;
};

}  // namespace d5
