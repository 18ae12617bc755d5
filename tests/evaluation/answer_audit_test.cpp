// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/scenario/answer_audit.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"
#include "tests/evaluation/virtual_load_clock.hpp"

using namespace d5;

namespace {

/// Answers each sample with its number, in a time that varies by a factor of e, as busy machines
/// do.
class AuditedSystem final : public SystemUnderTest {
 public:
  AuditedSystem(std::shared_ptr<VirtualLoadClock> clock, std::uint64_t seed)
      : clock_(std::move(clock)), random_(seed) {}
  std::string name() const override { return "candidate"; }
  std::int64_t samples() const override { return 120; }
  void issue(std::span<const Query> queries) override {
    for (const Query& query : queries) {
      const bool known = !seen_.insert(query.sample).second;
      const double factor = std::exp(random_.uniform_double() - 0.5);
      clock_->pass(std::int64_t(1e6 * factor * (known ? known_share : 1)));
      std::int64_t answer = query.sample;
      if (++asked_ > honest) answer = 0;
      const std::byte byte{std::uint8_t(answer)};
      complete({{.id = query.id, .bytes = {&byte, 1}}});
    }
  }
  double known_share = 1;           ///< factor of the time, for samples asked before
  std::int64_t honest = 1'000'000;  ///< answers before the first wrong one

 private:
  std::shared_ptr<VirtualLoadClock> clock_;
  RandomStream random_;
  std::set<std::int64_t> seen_;
  std::int64_t asked_ = 0;
};

struct Audited {
  Measurement differ, ratio;
};
Audited audit(AuditedSystem& candidate, std::shared_ptr<VirtualLoadClock> clock) {
  AuditOptions options;
  options.run.clock = std::move(clock);
  auto records = audit_answers(candidate, options);
  return {records.at(0), records.at(1)};
}

}  // namespace

TEST_CASE("no alarm is raised in a hundred honest runs") {
  const auto clock = std::make_shared<VirtualLoadClock>();
  int alarms = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    AuditedSystem honest(clock, seed);
    const auto [differ, ratio] = audit(honest, clock);
    alarms += differ.status != Status::passed || ratio.status != Status::passed;
  }
  CHECK(alarms == 0);
}

TEST_CASE("a system that remembers what it was asked is caught") {
  const auto clock = std::make_shared<VirtualLoadClock>();
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    AuditedSystem caching(clock, seed);
    caching.known_share = 0.5;
    const auto [differ, ratio] = audit(caching, clock);
    CHECK(differ.status == Status::passed);
    CHECK(ratio.status == Status::failed);
    CHECK_THAT(ratio.reason, Catch::Contains("cached results"));
  }
}

TEST_CASE("a system that answers otherwise when it is timed is caught") {
  const auto clock = std::make_shared<VirtualLoadClock>();
  const std::int64_t honest = GENERATE(0, 5, 150, 250);
  AuditedSystem lying(clock, 1);
  lying.honest = honest;
  const auto [differ, ratio] = audit(lying, clock);
  CAPTURE(honest, differ.reason);
  CHECK(ratio.status == Status::passed);
  // A system that cheats from its first answer on is consistent: only right answers reveal it.
  CHECK((differ.status == Status::failed) == (honest > 0));
  if (honest > 0) return;
  CHECK(differ.status == Status::mistrusted);
  CHECK_THAT(differ.reason, Catch::Contains("all 120 samples have the same answer"));
}

TEST_CASE("answers are compared by the caller's function") {
  const auto clock = std::make_shared<VirtualLoadClock>();
  AuditedSystem lying(clock, 1);
  lying.honest = 250;
  AuditOptions options;
  options.run.clock = clock;
  options.same = [](auto, auto) { return true; };
  CHECK(audit_answers(lying, options).at(0).status == Status::passed);
  options.samples = 3;
  CHECK_THROWS_AS(audit_answers(lying, options), ValueError);
}

TEST_CASE("a system that fails is no cheat, and its audit says what failed") {
  struct Broken final : SystemUnderTest {
    std::string name() const override { return "broken"; }
    std::int64_t samples() const override { return 100; }
    void issue(std::span<const Query>) override { throw NumericError("NaN"); }
  } broken;
  for (const Measurement& record : audit_answers(broken)) {
    CHECK(record.status == Status::failed);
    CHECK_THAT(record.reason, Catch::Contains("NaN"));
  }
}
