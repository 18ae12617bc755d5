// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "d5/core/clocks/clock.hpp"

namespace d5::detail {

/// A bounded queue that several threads fill in any order and several empty in the order of
/// numbers. It holds items next_ to next_ + capacity - 1, so that the producer of the next item
/// never waits.
template <class Item>
class OrderedQueue {
 public:
  /// A queue for items 0 to total - 1.
  OrderedQueue(std::size_t capacity, std::int64_t total) : slots_(capacity), total_(total) {}

  /// Waits for room and returns the seconds waited. Drops items after `cancel`.
  double put(std::int64_t number, Item item) {
    std::unique_lock lock(mutex_);
    const double waited = wait(lock, room_, [&] { return number < next_ + capacity(); });
    if (cancelled_) return waited;
    slots_[index_of(number)] = std::move(item);
    deepest_ = std::max(deepest_, ++depth_);
    // Consumers wait for the next item only.
    if (number == next_) filled_.notify_one();
    return waited;
  }

  /// The next item with its number; nullopt after the last one and after `cancel`. `waited` grows
  /// by the seconds waited.
  std::optional<std::pair<std::int64_t, Item>> take(double& waited) {
    std::unique_lock lock(mutex_);
    waited += wait(lock, filled_, [&] { return next_ == total_ || slots_[index_of(next_)]; });
    if (cancelled_ || next_ == total_) return std::nullopt;
    depth_sum_ += depth_--;
    const std::int64_t number = next_++;
    std::optional<Item> item = std::exchange(slots_[index_of(number)], std::nullopt);
    room_.notify_all();
    const bool more = next_ == total_ || slots_[index_of(next_)];
    if (next_ == total_) filled_.notify_all();
    if (more) filled_.notify_one();
    return std::pair(number, std::move(*item));
  }

  /// Ends all waits.
  void cancel() {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    room_.notify_all();
    filled_.notify_all();
  }

  /// Mean number of items in the queue when one was taken, including that one.
  [[nodiscard]] double mean_depth() const {
    return next_ == 0 ? 0 : double(depth_sum_) / double(next_);
  }
  [[nodiscard]] std::int64_t deepest() const { return deepest_; }

 private:
  template <class Ready>
  double wait(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
              const Ready& ready) {
    if (cancelled_ || ready()) return 0;
    const double begin = now_seconds();
    changed.wait(lock, [&] { return cancelled_ || ready(); });
    return now_seconds() - begin;
  }
  [[nodiscard]] std::int64_t capacity() const { return std::int64_t(slots_.size()); }
  [[nodiscard]] std::size_t index_of(std::int64_t number) const {
    return std::size_t(number) % slots_.size();
  }

  std::mutex mutex_;
  std::condition_variable room_, filled_;
  std::vector<std::optional<Item>> slots_;
  std::int64_t total_, next_ = 0, depth_ = 0, deepest_ = 0, depth_sum_ = 0;
  bool cancelled_ = false;
};

}  // namespace d5::detail
