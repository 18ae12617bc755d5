// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <queue>
#include <utility>

#include "d5/evaluation/load/scenario.hpp"
#include "evaluation/load/load_run.hpp"
#include "evaluation/load/nanoseconds.hpp"

namespace d5::scenario {
namespace {

struct ClosedLoopOptions {
  std::int64_t users = 1;
  double think = 0;
  void declare(OptionList& options) {
    options.add("users", users, "number of users, who each send the next query after an answer",
                {.least = 1});
    options.add("think", think, "time that a user waits between an answer and the next query, in s",
                {.least = 0});
  }
};

/// A fixed number of users; each waits for its answer, thinks, and asks again.
class ClosedLoop final : public Scenario {
 public:
  using Options = ClosedLoopOptions;
  explicit ClosedLoop(const Options& options) : options_(options) {}

  ScenarioResult run(SystemUnderTest& system, const ScenarioOptions& options) override {
    detail::LoadRun run(
        system, options,
        {.latency_from = LatencyFrom::issue, .percentile = 0.9, .tell_answered = true});
    // Moments from which on users may ask. Users are alike, so their identity does not matter.
    std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> ready;
    for (std::int64_t i = 0; i < options_.users; ++i) ready.push(run.start());
    const auto think = detail::nanoseconds(options_.think);
    const auto patience = detail::nanoseconds(options.answer_seconds);
    std::vector<std::int64_t> answered;
    for (;;) {
      run.answered(answered);
      const std::int64_t now = run.now();
      for (std::size_t i = 0; i < answered.size(); ++i) ready.push(now + think);
      if (ready.empty()) {
        run.wait_for_answer(now + patience);
        if (run.now() >= now + patience) break;  // no more answers arrive
      } else if (ready.top() > now) {
        if (!run.goes_on(ready.top())) break;
        run.wait_for_answer(ready.top());
      } else {
        if (!run.goes_on(ready.top()) || !run.wait_for_turn(ready.top())) break;
        const std::int64_t moment = ready.top();
        ready.pop();
        run.ask(moment);
      }
    }
    return run.end();
  }
  [[nodiscard]] bool overlaps() const override { return options_.users > 1; }
  [[nodiscard]] bool batches() const override { return options_.users > 1; }

 private:
  Options options_;
};

}  // namespace

void register_closed_loop(Registry<ScenarioEntry>& registry) {
  registry.add(
      "closed_loop",
      ScenarioEntry::of<ClosedLoop>(
          "closed loop: a fixed number of users, each sending the next query after an answer"));
}

}  // namespace d5::scenario
