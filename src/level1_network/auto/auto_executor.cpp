// SPDX-License-Identifier: Apache-2.0
#include "level1_network/auto/auto_executor.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/interrupts/interrupt.hpp"
#include "d5/level0_ops/bench/bench.hpp"
#include "d5/level1_network/graph/execution_interrupt.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "level1_network/auto/fused_executor.hpp"
#include "level1_network/mixture/disturbed_choice.hpp"
#include "level1_network/nodes/structure_digest.hpp"

namespace d5 {
namespace {

/// The name of d5's plan of the transformed network.
constexpr const char* kFused = "fused";
/// The suffix of a framework that leaves the nodes it lacks to the reference.
constexpr const char* kBehind = "+reference";
/// Last resort if all others give wrong outputs.
constexpr const char* kLast = "reference alone";

std::vector<std::string> rival_words() {
  std::vector<std::string> words{kFused};
  for (const auto& info : frameworks()) {
    try {
      for (const auto& name : framework(info.name).part<ExecutorRegistry>().names()) {
        words.push_back(info.name + ":" + name);
      }
    } catch (const Error&) {  // it cannot be loaded
    }
  }
  return words;
}

/// Words that name frameworks only, without their own executors.
std::vector<std::string> words_alone() {
  std::vector<std::string> words;
  for (const auto& name : operator_words({"all"})) {
    if (name != "reference") words.push_back(name + kBehind);
  }
  return words;
}

bool are_of(const ValueMap& inputs, const std::vector<std::pair<std::string, ValueDesc>>& descs) {
  return std::ranges::equal(descs, inputs, [](const auto& fed, const auto& input) {
    return fed.first == input.first && input.second.is_tensor() && fed.second.is_tensor() &&
           fed.second.tensor == input.second.tensor().desc();
  });
}

}  // namespace

bool AutoExecutor::has_rivals(const ExecutorOptions& options) {
  return options.frameworks == std::vector<std::string>{"auto"} && options.device == Device{} &&
         options.placement.empty() && options.memory_limit == 0 && options.recompute.empty();
}

AutoExecutor::AutoExecutor(Network network, ExecutorOptions options, SelectionOptions selection)
    : options_(options), selection_(selection), plan_(std::move(network), options, selection) {
  for (auto& word : rival_words()) rivals_.push_back({std::move(word)});
  for (auto& word : words_alone()) rivals_.push_back({std::move(word), true});
  rivals_.push_back({kLast, true});
}

const ValueMap& AutoExecutor::inference(const ValueMap& inputs) {
  return chosen_for(inputs, "").inference(inputs);
}

const ValueMap& AutoExecutor::inference_and_backprop(const ValueMap& inputs,
                                                     std::string_view loss) {
  return chosen_for(inputs, std::string(loss)).inference_and_backprop(inputs, loss);
}

std::unique_ptr<BatchInFlight> AutoExecutor::forward(const ValueMap& inputs,
                                                     const std::vector<std::string>& outputs) {
  current_ = &plan_;
  choice_ = nullptr;
  return observed(plan_).forward(inputs, outputs);
}

void AutoExecutor::set_loss_factor(double factor) {
  plan_.set_loss_factor(factor);  // it can any; a rival that cannot says so when it is to run
  loss_factor_ = factor;
}

void AutoExecutor::plan(const ValueMap& inputs, std::string_view loss) {
  chosen_for(inputs, std::string(loss)).plan(inputs, loss);
}

ValueMap AutoExecutor::state() const {
  ValueMap result = plan_.state();
  for (const Rival& rival : rivals_) {
    if (!rival.executor) continue;
    for (const auto& [name, value] : rival.executor->state()) {
      result[rival.word + "/" + name] = value;
    }
  }
  return result;
}

void AutoExecutor::restore(const ValueMap& state) {
  plan_.restore(state);
  for (Rival& rival : rivals_) {
    const std::string prefix = rival.word + "/";
    ValueMap its;
    for (const auto& [name, value] : state) {
      if (name.starts_with(prefix)) its[name.substr(prefix.size())] = value;
    }
    if (!its.empty()) made(rival).restore(its);
  }
}

GraphExecutor& AutoExecutor::observed(GraphExecutor& executor) {
  executor.events() = events_;
  return executor;
}

GraphExecutor& AutoExecutor::chosen_for(const ValueMap& inputs, const std::string& loss) {
  if (!loss.empty()) (void)network().parameters();  // laying them out counts as an edit
  const auto fits = [&](const Choice& choice) {
    return choice.loss == loss && choice.mode == mode() &&
           choice.revision == network().revision() && are_of(inputs, choice.fed);
  };
  auto known = std::ranges::find_if(choices_, fits);
  if (known == choices_.end()) {
    std::erase_if(choices_,
                  [&](const Choice& choice) { return choice.revision != network().revision(); });
    Choice choice{{}, loss, mode(), network().revision(), &plan_, {}};
    for (const auto& [name, value] : inputs) choice.fed.emplace_back(name, value.desc());
    choice.executor = &choose(choice, inputs);
    choices_.push_back(std::move(choice));
    known = choices_.end() - 1;
  }
  choice_ = &*known;
  current_ = known->executor;
  if (current_->mode() != mode()) current_->set_mode(mode());
  current_->set_loss_factor(loss_factor_);
  return observed(*current_);
}

SelectionPurpose AutoExecutor::purpose_of(const Choice& choice) {
  std::string words = selection_circumstances();
  words += fmt::format("whole network, loss '{}', mode {}\n", choice.loss, name_of(choice.mode));
  for (const auto& [name, desc] : choice.fed) {
    words += fmt::format("input {} {}\n", name, to_string(desc));
  }
  for (const auto& name : options_.gradients) words += fmt::format("gradient {}\n", name);
  words += fmt::format("gradients of parameters {}\n", options_.parameter_gradients);
  return {structure_digest(network().graph()), words};
}

GraphExecutor& AutoExecutor::choose(Choice& choice, const ValueMap& inputs) {
  EventList interrupts;
  for (const auto& event : events_.all()) {
    if (std::dynamic_pointer_cast<ExecutionInterrupt>(event)) interrupts.add(event);
  }
  plan_.events() = interrupts;
  const SelectionPurpose purpose = purpose_of(choice);
  KeptSelection kept = standing_selection(purpose, selection_);
  if (Rival* rival = find(kept.selection.chosen)) {
    choice.selection = std::move(kept.selection);
    return made(*rival);
  }
  plan_.plan(inputs, choice.loss);
  FrameworkSelection& selection = choice.selection = framework_selection(plan_);
  if (!kept.selection.chosen.empty()) {
    kept.selection.nodes = std::move(selection.nodes);
    selection = std::move(kept.selection);
    return plan_;
  }
  const std::string planned = selection.chosen.empty() ? "plan" : selection.chosen;
  const double begin = selection_.clock();
  const auto others = selection_.watch_others();
  ExecutorRace race(network(), inputs, choice.loss, selection_.clock);
  race.add(planned, plan_);
  const auto enter = [&](Rival& rival) {
    try {
      GraphExecutor& executor = made(rival);
      executor.events() = interrupts;
      race.add(rival.word, executor);
    } catch (const Interrupted&) {
      throw;
    } catch (const std::exception& error) {
      selection.refusals.push_back({rival.word, printable_message(error.what())});
    }
  };
  for (Rival& rival : rivals_) {
    if (!rival.stands_in && (rival.word != kFused || can_fuse(choice))) enter(rival);
  }
  race.where_first_is_refused([&] {
    for (Rival& rival : rivals_) {
      if (rival.stands_in) enter(rival);
    }
  });
  if (draw_ && are_of(draw_(seed_, 0), choice.fed)) {
    race.judge_also_on(draw_, seed_, selection_.most_seconds / 4);
  }
  race.run(selection_.most_seconds / 2);
  Rival* winner = find(race.winner().empty() ? kLast : race.winner());
  tell(race, planned, winner, selection);
  selection.draws = race.draws();
  selection.measuring_seconds += selection_.clock() - begin;
  KeptSelection found{{}, selection};
  keep_measured(purpose, kept, others(), found);
  selection.notes = found.selection.notes;
  std::ranges::copy(kept.selection.notes, std::back_inserter(selection.notes));
  return winner ? made(*winner) : plan_;
}

void AutoExecutor::tell(const ExecutorRace& race, const std::string& planned, const Rival* winner,
                        FrameworkSelection& selection) {
  // The plan's own ways were timed beside the plan that was chosen.
  std::vector<FrameworkSelection::Way> ways = race.ways();
  if (winner) {
    selection.chosen = winner->word;
  } else {
    std::ranges::copy_if(selection.ways, std::back_inserter(ways),
                         [&](const auto& way) { return way.name != planned; });
    std::ranges::stable_sort(ways, {}, &FrameworkSelection::Way::seconds);
  }
  if (winner && winner->stands_in) selection.nodes.clear();
  if (winner && winner->word == kFused) {
    const FrameworkSelection fused = framework_selection(*winner->executor);
    selection.nodes = fused.nodes;
    selection.reorders = fused.reorders;
  }
  selection.ways = std::move(ways);
  for (auto refusal : race.refusals()) {
    if (refusal.framework == planned) {
      refusal.reason += "; frameworks were tried one by one instead";
    }
    selection.refusals.push_back(std::move(refusal));
  }
}

bool AutoExecutor::can_fuse(const Choice& choice) {
  return choice.loss.empty() && fused_network(network(), choice.mode).has_value();
}

GraphExecutor& AutoExecutor::made(Rival& rival) {
  if (!rival.executor && rival.word == kFused) {
    SelectionOptions half = selection_;
    half.most_seconds /= 2;
    rival.executor = std::make_shared<FusedExecutor>(network(), options_, half);
  } else if (!rival.executor) {
    rival.executor =
        open_executor(rival.word == kLast ? "reference" : rival.word, network(), options_);
  }
  rival.executor->set_mode(mode());
  return *rival.executor;
}

AutoExecutor::Rival* AutoExecutor::find(std::string_view word) {
  const auto rival = std::ranges::find(rivals_, word, &Rival::word);
  return rival == rivals_.end() ? nullptr : &*rival;
}

const GraphExecutor& executor_behind(const GraphExecutor& executor) {
  if (const auto* standing = dynamic_cast<const AutoExecutor*>(&executor)) {
    return executor_behind(standing->current());
  }
  const auto* fused = dynamic_cast<const FusedExecutor*>(&executor);
  return fused && fused->planned() ? *fused->planned() : executor;
}

}  // namespace d5
