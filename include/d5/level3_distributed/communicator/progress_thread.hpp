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
  /// The place of the thread's core among those that the process may use; none: wherever the
  /// system puts it.
  std::optional<int> place = {};
};

/// A communicator whose calls go on while the rank computes: a thread of its own makes them all,
/// and moves on the schedules that are under way, their arithmetic with them.
///
///     auto ranks = std::make_shared<ProgressThread>(world());
///     auto request = ring->start(*ranks, gradient);     // under way, and stays so
///     compute();
///     request->wait();
///
/// It belongs outside of all other decorators: schedules of a communicator around it are moved on
/// by their owner, as ever. The communicator inside is the thread's alone until this one's end,
/// which waits for what is under way. What goes wrong in a started call comes out where it is
/// waited for. Observers hear of what schedules call on the thread, one call at a time.
///
/// A core that it shares with the computation it takes time from: it looks again and again while
/// something is under way, giving the core away in between.
///
/// Thread safety: as any communicator's; one thread at a time, beside its own.
class ProgressThread final : public CommunicatorDecorator {
 public:
  explicit ProgressThread(std::shared_ptr<Communicator> inner,
                          const ProgressThreadOptions& options = {});
  ~ProgressThread() override;
  [[nodiscard]] std::string medium() const override {
    return inner().medium() + ", moved on by a thread";
  }
  /// Of memory nobody is asked but its owner, on whichever thread: not watched. Ranks that look
  /// for their end are answered meanwhile.
  [[nodiscard]] std::unique_ptr<Request> watch(const CommunicationCall& call,
                                               std::unique_ptr<Request> request) override;
  void tell_failure() override;
  void forget_failures() override;
  [[nodiscard]] bool end_together(bool wishes) override;
  void answer_end() override;
  /// What was done about its place: "core 3", "none: ...".
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
  bool owner_ = false;  // not a group
};

}  // namespace d5
