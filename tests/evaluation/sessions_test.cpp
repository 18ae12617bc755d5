// SPDX-License-Identifier: Apache-2.0
// Conversations in virtual time, against the moments that follow from answers and think times.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/load/scenario.hpp"
#include "tests/evaluation/simulated_system.hpp"

using namespace d5;

namespace {

/// Answers each turn one second after it was asked, and fails the turns that it is told to.
class Talking final : public SystemUnderTest {
 public:
  explicit Talking(std::shared_ptr<VirtualLoadClock> clock) : clock_(std::move(clock)) {}
  std::string name() const override { return "talking"; }
  std::int64_t samples() const override { return 10; }
  bool keeps_sessions() const override { return true; }
  void issue(std::span<const Query> queries) override {
    for (const Query& query : queries) {
      turns.push_back({query.place, clock_->now()});
      const bool fails = std::int64_t(turns.size()) == failing;
      clock_->at(clock_->now() + 1'000'000'000, [this, id = query.id, fails] {
        complete({{.id = id, .status = fails ? Status::failed : Status::passed, .reason = "no"}});
      });
    }
  }
  struct Turn {
    SessionTurn place;
    std::int64_t at;
  };
  std::vector<Turn> turns;
  std::int64_t failing = 0;  ///< number of the query that fails, from 1

 private:
  std::shared_ptr<VirtualLoadClock> clock_;
};

ScenarioResult talk(Talking& system, const std::shared_ptr<VirtualLoadClock>& clock,
                    const Settings& settings, std::int64_t queries) {
  return scenarios()
      .at("sessions")
      .make(settings)
      ->run(system, {.most_seconds = 1e6, .least_queries = queries, .clock = clock});
}

}  // namespace

TEST_CASE("a session's turns follow the answers and the thinking, then another begins") {
  const auto clock = std::make_shared<VirtualLoadClock>();
  Talking system(clock);
  const auto result = talk(system, clock, {{"users", 2}, {"turns", 3}, {"think", 0.5}}, 14);
  CHECK(result.status != Status::failed);
  REQUIRE(system.turns.size() == 14);
  std::map<std::int64_t, std::vector<Talking::Turn>> sessions;
  for (const auto& turn : system.turns) sessions[turn.place.session].push_back(turn);
  REQUIRE(sessions.size() == 6);  // two of them begun
  for (const auto& [number, turns] : sessions) {
    for (std::size_t i = 0; i < turns.size(); ++i) {
      CHECK(turns[i].place.turn == std::int64_t(i));
      // Both users began at 0, and ask every 1.5 s.
      const std::int64_t before = number / 2 * 3;  // turns of earlier sessions
      CHECK(turns[i].at - system.turns[0].at == (before + std::int64_t(i)) * 1'500'000'000);
    }
  }
}

TEST_CASE("think times that are exponential have the mean that was asked for") {
  const auto clock = std::make_shared<VirtualLoadClock>();
  Talking system(clock);
  constexpr std::int64_t kQueries = 4000;
  (void)talk(system, clock, {{"think", 2}, {"thinking", "exponential"}}, kQueries);
  REQUIRE(system.turns.size() == kQueries);
  const double seconds = double(system.turns.back().at - system.turns.front().at) * 1e-9;
  CHECK(seconds / (kQueries - 1) == Approx(3).margin(4 * 2 / std::sqrt(kQueries)));
}

TEST_CASE("a turn that fails does not end its session") {
  const auto clock = std::make_shared<VirtualLoadClock>();
  Talking system(clock);
  system.failing = 2;
  const auto result = talk(system, clock, {{"turns", 3}}, 4);
  CHECK(result.status == Status::failed);
  REQUIRE(system.turns.size() == 4);
  CHECK(system.turns[2].place.session == 0);
  CHECK(system.turns[2].place.turn == 2);
  CHECK(system.turns[3].place.session == 1);
}

TEST_CASE("sessions take a system of text") {
  const auto clock = std::make_shared<VirtualLoadClock>();
  SimulatedSystem system(clock, [](auto) { return std::int64_t{1000}; });
  CHECK_THROWS_AS(scenarios().at("sessions").make()->run(system, {.clock = clock}), Unsupported);
}
