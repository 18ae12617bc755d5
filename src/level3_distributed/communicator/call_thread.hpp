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
  /// Waits for what is under way, except while an exception unwinds: then it is left as it is.
  void stop();
  [[nodiscard]] const std::string& pinning() const { return pinning_; }

  /// `begin` is called on the thread, after all that were asked for before; null is done at once.
  [[nodiscard]] std::unique_ptr<Request> start(Begin begin);
  void wake();
  /// On the thread itself: one look at all that is under way.
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
  int bound_ = -1;     // by the resources of a call; -1: as the thread began
  cpu_set_t unbound_;  // what it began with
  std::mutex mutex_;   // of what follows
  std::condition_variable needed_;
  std::vector<std::shared_ptr<Call>> asked_;
  bool woken_ = false, stopping_ = false;
  std::atomic<bool> abandoned_ = false;
  std::vector<std::shared_ptr<Call>> under_way_;  // the thread's own
  std::atomic<std::thread::id> id_;
  std::thread thread_;
};

}  // namespace d5::detail
