// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "d5/level3_distributed/communicator/communicator_decorator.hpp"

namespace d5 {

namespace detail {
class CallThread;
}

struct ProgressThreadOptions {
  /// Index of the thread's core among the cores that the process may use; nullopt: not pinned.
  std::optional<int> place = {};
};

/// A communicator with asynchronous progress: a dedicated thread makes all calls, and runs the
/// schedules in flight, their arithmetic included, while the rank computes.
///
///     auto ranks = std::make_shared<ProgressThread>(world());
///     auto request = ring->start(*ranks, gradient);     // progresses by itself
///     compute();
///     request->wait();
///
/// Make it the outermost decorator: schedules of a communicator around it are not progressed by the
/// thread. Only the thread may use the inner communicator until this one ends; the destructor waits
/// for the calls in flight. An error in a started call is thrown from its wait. Observers of the
/// calls that schedules make run on the thread, one call at a time.
///
/// The thread polls while calls are in flight, and yields between polls. On a shared core it takes
/// time from the computation.
///
/// Thread safety: one caller thread at a time, as for any communicator.
class ProgressThread final : public CommunicatorDecorator {
 public:
  explicit ProgressThread(std::shared_ptr<Communicator> inner,
                          const ProgressThreadOptions& options = {});
  ~ProgressThread() override;
  [[nodiscard]] std::string medium() const override {
    return inner().medium() + ", moved on by a thread";
  }
  /// Shared memory can be polled on any thread, so its waits are not watched. Ranks that agree on a
  /// stop are answered meanwhile.
  [[nodiscard]] std::unique_ptr<Request> watch(const CommunicationCall& call,
                                               std::unique_ptr<Request> request) override;
  void tell_failure() override;
  void forget_failures() override;
  [[nodiscard]] bool end_together(bool wishes) override;
  void answer_end() override;
  /// Result of pinning: "core 3", "none: ...".
  [[nodiscard]] const std::string& pinning() const;

 protected:
  [[nodiscard]] std::unique_ptr<Request> do_start(const CommunicationCall& call) override;
  void do_run(const CommunicationCall& call) override;
  [[nodiscard]] std::shared_ptr<Communicator> do_split(int color, int order) override;
  [[nodiscard]] std::shared_ptr<Communicator> do_group(const std::vector<int>& ranks) override;
  [[nodiscard]] std::shared_ptr<Communicator> decorate(
      std::shared_ptr<Communicator> group) override;

 private:
  class AnsweringRequest;
  ProgressThread(std::shared_ptr<Communicator> inner, std::shared_ptr<detail::CallThread> thread);
  void on_thread(const std::function<void()>& what);
  std::shared_ptr<detail::CallThread> thread_;
  bool owner_ = false;  // false in a group
};

}  // namespace d5
