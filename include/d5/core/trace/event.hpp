// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace d5 {

/// Base of every observer. It observes through the interfaces that it implements: `ExecutionEvent`
/// (level 1), `TrainingEvent` (level 2), `CommunicationEvent` (level 3). A class may implement
/// several, and also be a `Metric`.
class Event {
 public:
  virtual ~Event() = default;
};

/// The observers of one subject.
class EventList {
 public:
  void add(std::shared_ptr<Event> event) { events_.push_back(std::move(event)); }
  void remove(const Event* event) {
    std::erase_if(events_, [&](const auto& e) { return e.get() == event; });
  }
  [[nodiscard]] bool empty() const { return events_.empty(); }
  [[nodiscard]] const std::vector<std::shared_ptr<Event>>& all() const { return events_; }

  /// Collects the observers that implement `Interface`, in the order of adding. Called once per
  /// run, outside the loop.
  template <class Interface>
  void collect(std::vector<Interface*>& into) const {
    into.clear();
    for (const auto& event : events_) {
      if (auto* listener = dynamic_cast<Interface*>(event.get())) into.push_back(listener);
    }
  }

 private:
  std::vector<std::shared_ptr<Event>> events_;
};

}  // namespace d5
