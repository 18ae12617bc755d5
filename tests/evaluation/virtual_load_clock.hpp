// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "d5/evaluation/load/load_clock.hpp"

/// A clock that stands still until somebody waits: then what was put on it happens, in its order.
class VirtualLoadClock final : public d5::LoadClock {
 public:
  std::int64_t now() override { return now_; }
  void wait_until(std::int64_t until) override {
    while (!std::exchange(woken_, false)) {
      if (events_.empty() || events_.begin()->first > until) {
        now_ = std::max(now_, until);
        return;
      }
      const auto event = events_.extract(events_.begin());
      now_ = std::max(now_, event.key());
      event.mapped()();
    }
  }
  void wake() override { woken_ = true; }
  d5::Conditions conditions() const override { return {}; }

  /// Time that somebody spends without waiting: nothing happens meanwhile.
  void pass(std::int64_t ns) { now_ += ns; }
  void at(std::int64_t moment, std::function<void()> event) {
    events_.emplace(moment, std::move(event));
  }

 private:
  std::int64_t now_ = 1'000'000'000;
  bool woken_ = false;
  std::multimap<std::int64_t, std::function<void()>> events_;
};
