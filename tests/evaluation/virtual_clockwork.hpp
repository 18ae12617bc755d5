// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "evaluation/predictor/clockwork.hpp"
#include "tests/evaluation/virtual_load_clock.hpp"

/// A clockwork in virtual time.
class VirtualClockwork final : public d5::SystemUnderTest {
 public:
  VirtualClockwork(std::shared_ptr<VirtualLoadClock> clock,
                   const d5::detail::ClockworkOptions& options)
      : clock_(std::move(clock)), clockwork_(options) {}

  std::string name() const override { return "clockwork"; }
  std::int64_t samples() const override { return 10; }
  void issue(std::span<const d5::Query> queries) override {
    for (const d5::Query& query : queries) clockwork_.ask(query.id, clock_->now());
    wait();
  }

 private:
  void wait() {
    const auto next = clockwork_.next();
    if (!next || next == awaited_) return;
    awaited_ = next;
    clock_->at(*next, [this, at = *next, alive = std::weak_ptr(alive_)] {
      if (alive.expired()) return;  // the clock goes on for another system
      if (at != awaited_) return;   // something earlier came between
      awaited_.reset();
      clockwork_.pass(
          clock_->now(), [this](const d5::QueryProgress& piece) { progress({piece}); },
          [this](const d5::QueryAnswer& answer) { complete({answer}); });
      wait();
    });
  }

  std::shared_ptr<VirtualLoadClock> clock_;
  d5::detail::Clockwork clockwork_;
  std::optional<std::int64_t> awaited_;
  std::shared_ptr<int> alive_ = std::make_shared<int>();
};
