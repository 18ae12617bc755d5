// SPDX-License-Identifier: Apache-2.0
// Who of a race answers otherwise than the reference.
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/error.hpp"
#include "d5/core/interrupt.hpp"
#include "level1_network/auto/executor_race.hpp"
#include "level1_network/validation/answers.hpp"

namespace d5 {
namespace {

constexpr std::uint64_t kMoreDraws = 3;

std::string refusal_by(const Verdict& verdict) {
  if (verdict.is == Verdict::Is::wrong) return "wrong answers: " + verdict.reason;
  if (verdict.is == Verdict::Is::doubtful) return "doubtful answers: " + verdict.reason;
  return "";
}

/// The caller's may be memory that nobody may write to.
ValueMap copied(const ValueMap& inputs) {
  ValueMap own = inputs;
  for (auto& [name, value] : own) {
    if (value.is_tensor()) value = Value(value.tensor().copy());
  }
  return own;
}

}  // namespace

void ExecutorRace::keep_what_is_read(UnchangedTensors& read) const {
  for (const auto& [name, value] : inputs_) read.keep("input " + name, value);
  const GraphInMode run = graph_in_mode(network_, runners_.front().executor->mode());
  for (const auto& [name, value] : network_.graph().initializers) {
    if (!run.updates.contains(name)) read.keep(name, value);
  }
}

JudgedRun ExecutorRace::judged_run(NetworkMode mode) {
  // What the reference cannot run, d5's plan says the meaning of.
  return {.open = [this] { return network_.copy(); },
          .stand_ins = [first = runners_.front().name] { return std::vector{first}; },
          .open_stand_in =
              [first = runners_.front().executor](const std::string&) {
                return std::shared_ptr<GraphExecutor>(std::shared_ptr<void>(), first);
              },
          .mode = mode,
          .begin = {.loss = loss_},
          .of = loss_.empty() ? "inference" : "gradients of " + loss_};
}

void ExecutorRace::warm_up(Runner& runner, NetworkJudge& judge) {
  UnchangedTensors read;
  keep_what_is_read(read);
  try {
    const auto answers = answers_of(*runner.executor, inputs_, {.loss = loss_});
    if (const auto changed = read.put_back()) {
      throw ContractError(
          fmt::format("it changes {}, which it may only read", printable(*changed)));
    }
    runner.refusal = refusal_by(judge.judge(answers, *runner.executor, runner.name, inputs_));
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    if (&runner == &runners_.front()) throw;
    runner.refusal = printable_message(error.what());
  }
}

void ExecutorRace::judge_draws(std::span<Runner> runners, NetworkMode mode,
                               const std::function<void()>& begin_again) {
  const double end = clock_() + draws_seconds_;
  int judged = 1;
  for (std::uint64_t number = 1; draw_ && number <= kMoreDraws && clock_() < end; ++number) {
    const std::uint64_t seed = seed_ + number;
    if (judge_draw(runners, draw_(seed), seed, mode, begin_again)) ++judged;
  }
  draws_ = std::max(draws_, judged);
}

/// False where who comes first cannot run it: the values may be none that the network can take.
bool ExecutorRace::judge_draw(std::span<Runner> runners, const ValueMap& inputs, std::uint64_t seed,
                              NetworkMode mode, const std::function<void()>& begin_again) {
  NetworkJudge judge(judged_run(mode));
  bool can_be_run = false;
  for (Runner& runner : runners) {
    if (!runner.refusal.empty()) continue;
    std::string refusal;
    begin_again();
    try {
      refusal =
          refusal_by(judge.judge(*runner.executor, runner.name, inputs, Subject::Moment::before));
    } catch (const Interrupted&) {
      throw;
    } catch (const std::exception& error) {
      if (!can_be_run) return false;
      refusal = printable_message(error.what());
    }
    can_be_run = true;
    if (!refusal.empty()) {
      runner.refusal = fmt::format("on other random inputs (seed {}) {}", seed, refusal);
    }
  }
  return can_be_run;
}

void ExecutorRace::find_winner(NetworkJudge& judge) {
  const ValueMap inputs = copied(inputs_);
  while (winner_.empty() && !runners_.empty()) {
    Runner& best = *std::ranges::find(runners_, leader().name, &Runner::name);
    best.refusal =
        refusal_by(judge.judge(*best.executor, best.name, inputs, Subject::Moment::after));
    if (best.refusal.empty()) {
      winner_ = best.name;
    } else {
      best.refusal = "after its rounds " + best.refusal;
    }
    drop_refused();
  }
}

}  // namespace d5
