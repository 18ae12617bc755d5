// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace d5 {
struct CallOptions;
}

namespace d5::detail {

class ScheduledRequest;

/// The schedules in flight on one outermost communicator, in the order of their start. A schedule
/// may start others and sleep until they are done.
///
/// Thread safety: guarded by a lock; a progress thread may progress schedules beside their owner.
class SchedulesUnderWay {
 public:
  [[nodiscard]] std::unique_lock<std::recursive_mutex> lock() { return std::unique_lock(mutex_); }
  [[nodiscard]] std::unique_lock<std::recursive_mutex> try_lock() {
    return std::unique_lock(mutex_, std::try_to_lock);
  }

  void add(ScheduledRequest* request);
  void remove(const ScheduledRequest* request);
  [[nodiscard]] bool only(const ScheduledRequest* request) const {
    return all_.size() == 1 && all_.front() == request;
  }
  [[nodiscard]] bool empty() const { return all_.empty(); }
  [[nodiscard]] bool advancing() const { return advancing_; }
  /// The thread that progresses a schedule: its owner or a progress thread.
  enum class By { owner, thread };
  /// Progresses each schedule and releases finished ones. Does nothing if called by a schedule.
  void advance(By by = By::owner);
  [[nodiscard]] bool empty_for_thread() const;
  /// Options of the first schedule that a progress thread progresses; null: defaults.
  [[nodiscard]] std::shared_ptr<const CallOptions> options_for_thread() const;

  [[nodiscard]] bool has_thread() const { return added_ != nullptr; }
  /// Sets the listener for added schedules, for a progress thread.
  void on_added(std::function<void()> listener) { added_ = std::move(listener); }

 private:
  std::recursive_mutex mutex_;
  std::vector<ScheduledRequest*> all_;  // null: removed during `advance`
  bool advancing_ = false;
  std::function<void()> added_;
};

}  // namespace d5::detail
