// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/step_modifier.hpp"

#include <fmt/format.h>

#include <set>

#include "d5/core/entries/entry_words.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level2_training/optimization/schedule.hpp"
#include "level2_training/optimization/taken_options.hpp"

namespace d5 {

void ModifierOptions::declare(OptionList& options) {
  options.add("modifiers", modifiers, "modifiers of every step, in order", "step modifier");
}

namespace {

/// Makes the schedules in `schedules`, by hyper-parameter, and removes them from the settings.
std::vector<std::shared_ptr<StepModifier>> take_schedules(Settings& settings) {
  if (settings.has("schedules")) {
    throw ValueError(fmt::format(
        "{}: schedules is '{}', expected hyper-parameters with a schedule each: schedules: "
        "{{learning_rate: {{name: cosine, length: 1000}}}}",
        settings.place_of("schedules"), printable(settings.text("schedules", ""))));
  }
  const Settings all = settings.below("schedules");
  std::set<std::string> numbers;
  for (const auto& [name, value] : all.values()) {
    numbers.insert(name.substr(0, name.find('.')));
    settings.take("schedules." + name, "");
  }
  std::vector<std::shared_ptr<StepModifier>> result;
  for (const std::string& number : numbers) {
    const EntryChoice words = entry_of_words("schedule", all.text(number, ""));
    Settings settings = all.below(number);
    for (const auto& [key, value] : words.settings.values()) settings.set(key, value);
    const std::string name = settings.take("name", words.name);
    result.push_back(scheduled(number, {name, settings}));
  }
  return result;
}

}  // namespace

std::shared_ptr<Optimizer> open_optimizer(const std::string& name,
                                          std::shared_ptr<GraphExecutor> executor,
                                          const std::string& loss, const Settings& settings) {
  const OptimizerEntry& entry = find_optimizer(name);
  Settings own = settings;
  const auto around = detail::take_options<ModifierOptions>(own);
  auto modifiers = take_schedules(own);
  for (const EntryChoice& choice : around.modifiers) {
    modifiers.push_back(step_modifiers().at(choice.name).make(choice.settings));
  }
  auto optimizer = entry.make(std::move(executor), loss, own);
  if (modifiers.empty()) return optimizer;
  const auto three_step = std::dynamic_pointer_cast<ThreeStepOptimizer>(optimizer);
  if (!three_step) {
    throw Unsupported(
        fmt::format("optimizer {} is not a three-step optimizer, so nothing can take part in its "
                    "steps; leave its schedules and modifiers out, or choose another",
                    name));
  }
  for (auto& modifier : modifiers) three_step->add(std::move(modifier));
  return optimizer;
}

}  // namespace d5
