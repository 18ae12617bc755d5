// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "d5/evaluation/load/system_under_test.hpp"
#include "tests/evaluation/virtual_load_clock.hpp"

/// One server in virtual time, which takes what comes in turn, each for `service(its number)` ns.
class SimulatedSystem final : public d5::SystemUnderTest {
 public:
  SimulatedSystem(std::shared_ptr<VirtualLoadClock> clock,
                  std::function<std::int64_t(std::int64_t)> service)
      : clock_(std::move(clock)), service_(std::move(service)) {}

  std::string name() const override { return "simulated"; }
  std::int64_t samples() const override { return sample_count; }
  void load(std::span<const std::int64_t> samples) override {
    loaded.assign(samples.begin(), samples.end());
  }
  void issue(std::span<const d5::Query> queries) override {
    for (const d5::Query& query : queries) {
      asked.push_back(query.sample);
      const std::int64_t begun = std::max(clock_->now(), free_);
      free_ = begun + service_(served_++);
      most_waiting = std::max(most_waiting, ++waiting);
      clock_->at(free_, [this, alive = std::weak_ptr(alive_), id = query.id, begun] {
        if (alive.expired()) return;  // the clock goes on for another system
        --waiting;
        complete({{.id = id, .begun = begun}});
      });
    }
  }
  void flush() override { ++flushes; }

  std::int64_t sample_count = 10;
  std::vector<std::int64_t> loaded, asked;
  int flushes = 0, waiting = 0, most_waiting = 0;

 private:
  std::shared_ptr<VirtualLoadClock> clock_;
  std::function<std::int64_t(std::int64_t)> service_;
  std::int64_t free_ = 0, served_ = 0;
  std::shared_ptr<int> alive_ = std::make_shared<int>();
};
