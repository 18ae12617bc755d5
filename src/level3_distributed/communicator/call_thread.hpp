// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5::detail {

class SchedulesUnderWay;

/// The thread that makes all calls of a communicator and of its groups.
class CallThread : public std::enable_shared_from_this<CallThread> {
 public:
  using Begin = std::function<std::unique_ptr<Request>()>;

  CallThread(std::shared_ptr<SchedulesUnderWay> schedules, std::optional<int> place);
  /// Waits for the calls in flight, except during the unwinding of an exception: then they are
  /// abandoned.
  void stop();
  [[nodiscard]] const std::string& pinning() const { return pinning_; }

  /// Calls `begin` on the thread, after all earlier ones; null is done at once.
  [[nodiscard]] std::unique_ptr<Request> start(Begin begin);
  void wake();
  /// Polls all calls in flight once; called on the thread.
  void look();
  [[nodiscard]] bool is_this_thread() const { return std::this_thread::get_id() == id_; }

 private:
  struct Call;
  class ThreadRequest;
  void work();
  bool sleep_until_needed();
  void bind(const std::vector<int>& cores);
  void begin_asked();
  void begin(std::shared_ptr<Call> call);

  std::shared_ptr<SchedulesUnderWay> schedules_;
  std::string pinning_ = "none";
  int bound_ = -1;     // core by a call's resources; -1: original cores
  cpu_set_t unbound_;  // original cores
  std::mutex mutex_;   // guards the following members
  std::condition_variable needed_;
  std::vector<std::shared_ptr<Call>> asked_;
  bool woken_ = false, stopping_ = false;
  std::atomic<bool> abandoned_ = false;
  std::vector<std::shared_ptr<Call>> under_way_;  // used by the thread only
  std::atomic<std::thread::id> id_;
  std::thread thread_;
};

}  // namespace d5::detail
