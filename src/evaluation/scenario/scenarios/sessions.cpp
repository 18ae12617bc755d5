// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <queue>
#include <unordered_map>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/evaluation/load/scenario.hpp"
#include "evaluation/load/load_run.hpp"
#include "evaluation/load/nanoseconds.hpp"

namespace d5::scenario {
namespace {

struct SessionsOptions {
  std::int64_t users = 1, turns = 4;
  double think = 0;
  enum class Thinking { fixed, exponential } thinking = Thinking::fixed;
  void declare(OptionList& options) {
    options.add("users", users, "number of users, each in a session of its own", {.least = 1});
    options.add("turns", turns, "turns of a session, after which its user begins another",
                {.least = 1});
    options.add("think", think,
                "mean time that a user reads and thinks between an answer and the next turn, in s",
                {.least = 0});
    options.add("thinking", thinking, "distribution of these times", {"fixed", "exponential"});
  }
};

/// Users in conversations: the prompt of a turn is all that was said before, and the next sample's.
class Sessions final : public Scenario {
 public:
  using Options = SessionsOptions;
  explicit Sessions(const Options& options) : options_(options) {}

  ScenarioResult run(SystemUnderTest& system, const ScenarioOptions& options) override {
    if (!system.keeps_sessions()) {
      throw Unsupported(
          fmt::format("scenario sessions: {} answers each query by itself, expected a system that "
                      "generates text, as openai:URL or clockwork",
                      printable(system.name())));
    }
    detail::LoadRun run(
        system, options,
        {.latency_from = LatencyFrom::issue, .percentile = 0.9, .tell_answered = true});
    RandomStream random(options.seed, stream_of("think"));
    std::priority_queue<User, std::vector<User>, std::greater<>> ready;
    for (std::int64_t i = 0; i < options_.users; ++i) ready.push({.at = run.start(), .session = i});
    std::int64_t sessions = options_.users;
    std::unordered_map<std::int64_t, User> asked;  // by the query's number
    const auto patience = detail::nanoseconds(options.answer_seconds);
    std::vector<std::int64_t> answered;
    for (;;) {
      run.answered(answered);
      const std::int64_t now = run.now();
      for (const std::int64_t id : answered) {
        User user = asked.extract(id).mapped();
        user.at = now + think_time(random);
        if (++user.turn == options_.turns) user = {.at = user.at, .session = sessions++};
        ready.push(user);
      }
      if (ready.empty()) {
        run.wait_for_answer(now + patience);
        if (run.now() >= now + patience) break;  // no more answers arrive
      } else if (ready.top().at > now) {
        if (!run.goes_on(ready.top().at)) break;
        run.wait_for_answer(ready.top().at);
      } else {
        if (!run.goes_on(ready.top().at) || !run.wait_for_turn(ready.top().at)) break;
        const User user = ready.top();
        ready.pop();
        asked.emplace(run.asked(), user);
        run.ask(user.at, {.session = user.session, .turn = user.turn});
      }
    }
    return run.end();
  }
  [[nodiscard]] bool overlaps() const override { return options_.users > 1; }
  [[nodiscard]] bool batches() const override { return options_.users > 1; }

 private:
  struct User {
    std::int64_t at = 0;  ///< moment of the next turn
    std::int64_t session = 0, turn = 0;
    bool operator>(const User& other) const {
      return std::pair(at, session) > std::pair(other.at, other.session);
    }
  };
  std::int64_t think_time(RandomStream& random) const {
    if (options_.thinking == Options::Thinking::fixed) return detail::nanoseconds(options_.think);
    return detail::nanoseconds(-options_.think * std::log1p(-random.uniform_double()));
  }

  Options options_;
};

}  // namespace

void register_sessions(Registry<ScenarioEntry>& registry) {
  registry.add("sessions", ScenarioEntry::of<Sessions>(
                               "users in conversations: each answer joins the next turn's prompt"));
}

}  // namespace d5::scenario
