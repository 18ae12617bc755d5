// SPDX-License-Identifier: Apache-2.0
// Judges the executors of a race against the reference.
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "d5/core/interrupts/interrupt.hpp"
#include "level1_network/auto/executor_race.hpp"
#include "level1_network/validation/answers.hpp"

namespace d5 {
namespace {

constexpr std::uint64_t kMoreDraws = 3;

/// Copies the inputs: the caller's may be read-only memory.
ValueMap copied(const ValueMap& inputs) {
  ValueMap own = inputs;
  for (auto& [name, value] : own) {
    if (value.is_tensor()) value = Value(value.tensor().copy());
  }
  return own;
}

}  // namespace

std::string ExecutorRace::refusal_by(const Verdict& verdict, Runner& runner) {
  using Is = Verdict::Is;
  if (verdict.is == Is::uncompared) runner.uncompared = verdict.reason;
  if (verdict.is == Is::right) runner.compared = true;
  if (verdict.is == Is::wrong) return "wrong answers: " + verdict.reason;
  if (verdict.is == Is::doubtful) return "doubtful answers: " + verdict.reason;
  return "";
}

void ExecutorRace::keep_what_is_read(UnchangedTensors& read) const {
  for (const auto& [name, value] : inputs_) read.keep("input " + name, value);
  const GraphInMode run = graph_in_mode(network_, runners_.front().executor->mode());
  for (const auto& [name, value] : network_.graph().initializers) {
    if (!run.updates.contains(name)) read.keep(name, value);
  }
}

JudgedRun ExecutorRace::judged_run(NetworkMode mode) {
  // d5's plan judges what the reference cannot run.
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
    runner.refusal =
        refusal_by(judge.judge(answers, *runner.executor, runner.name, inputs_), runner);
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
  const auto uncompared = [](const Runner& runner) {
    return !runner.compared && !runner.uncompared.empty();
  };
  std::size_t drawing = std::ranges::any_of(runners, uncompared) ? 1 : 0;
  int judged = drawing == 0 ? 1 : 0;
  for (std::uint64_t number = 1; draw_ && number <= kMoreDraws && clock_() < end; ++number) {
    const std::uint64_t seed = seed_ + number;
    const ValueMap inputs = draw_(seed, drawing);
    if (judge_draw(runners, inputs, seed, mode, begin_again)) ++judged;
    if (std::ranges::any_of(runners, uncompared)) ++drawing;
  }
  draws_ = std::max(draws_, judged);
  for (Runner& runner : runners) {
    if (&runner == &runners_.front() || !runner.refusal.empty() || !uncompared(runner)) continue;
    runner.refusal = "nothing was compared: " + runner.uncompared;
  }
}

/// Returns false if the first runner cannot run these values, as the network may not accept them,
/// or if the judge's outputs are not evidence.
bool ExecutorRace::judge_draw(std::span<Runner> runners, const ValueMap& inputs, std::uint64_t seed,
                              NetworkMode mode, const std::function<void()>& begin_again) {
  NetworkJudge judge(judged_run(mode));
  bool can_be_run = false, says_nothing = false;
  for (Runner& runner : runners) {
    if (!runner.refusal.empty()) continue;
    std::string refusal;
    begin_again();
    try {
      const Verdict verdict =
          judge.judge(*runner.executor, runner.name, inputs, Subject::Moment::before);
      if (verdict.is == Verdict::Is::uncompared) says_nothing = true;
      refusal = refusal_by(verdict, runner);
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
  return can_be_run && !says_nothing;
}

void ExecutorRace::find_winner(NetworkJudge& judge) {
  const ValueMap inputs = copied(inputs_);
  while (winner_.empty() && !runners_.empty()) {
    Runner& best = *std::ranges::find(runners_, leader().name, &Runner::name);
    best.refusal =
        refusal_by(judge.judge(*best.executor, best.name, inputs, Subject::Moment::after), best);
    if (best.refusal.empty()) {
      winner_ = best.name;
    } else {
      best.refusal = "after its rounds " + best.refusal;
    }
    drop_refused();
  }
}

}  // namespace d5
