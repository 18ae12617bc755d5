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

/// The schedules under way on one outermost communicator, in the order of their start. One of them
/// may start others, and sleep until these are done.
///
/// Thread safety: whoever holds the lock; a progress thread may move them on beside their owner.
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
  /// Who moves them on: some are left to their owner.
  enum class By { owner, thread };
  /// Moves each on, and lets go of those at their end. Nothing where one of them asks for it.
  void advance(By by = By::owner);
  [[nodiscard]] bool empty_for_thread() const;
  /// Of the first that a thread moves on; null: none were given.
  [[nodiscard]] std::shared_ptr<const CallOptions> options_for_thread() const;

  [[nodiscard]] bool has_thread() const { return added_ != nullptr; }
  /// Called when there is one more: of a thread that moves them on.
  void on_added(std::function<void()> listener) { added_ = std::move(listener); }

 private:
  std::recursive_mutex mutex_;
  std::vector<ScheduledRequest*> all_;  // null: left while they were moved on
  bool advancing_ = false;
  std::function<void()> added_;
};

}  // namespace d5::detail
