// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace d5::detail {

/// A priority queue of events, the earliest first; the first added among equals.
template <class Thing>
class EventQueue {
 public:
  void add(double time, const Thing& thing) {
    heap_.push_back({time, order_++, thing});
    std::push_heap(heap_.begin(), heap_.end());
  }
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] double time() const { return heap_.front().time; }
  Thing take() {
    std::pop_heap(heap_.begin(), heap_.end());
    const Thing thing = heap_.back().thing;
    heap_.pop_back();
    return thing;
  }

 private:
  struct Event {
    double time;
    std::uint64_t order;
    Thing thing;
    bool operator<(const Event& other) const {  // max-heap: the earliest is on top
      return time != other.time ? time > other.time : order > other.order;
    }
  };
  std::vector<Event> heap_;
  std::uint64_t order_ = 0;
};

}  // namespace d5::detail
