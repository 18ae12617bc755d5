// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/step_modifier.hpp"

#include <fmt/format.h>

#include "d5/core/error.hpp"
#include "level2_training/taken_options.hpp"

namespace d5 {

// Generated: one call a file of the folder.
namespace step_modifier {
void register_all(Registry<StepModifierEntry>& registry);
}

Registry<StepModifierEntry>& step_modifiers() {
  static Registry<StepModifierEntry> registry("step modifier", step_modifier::register_all);
  return registry;
}

void ModifierOptions::declare(OptionList& options) {
  options.add("modifiers", modifiers, "of every step, one after another", "step modifier");
}

std::shared_ptr<Optimizer> open_optimizer(const std::string& name,
                                          std::shared_ptr<GraphExecutor> executor,
                                          const std::string& loss, const Settings& settings) {
  const OptimizerEntry& entry = find_optimizer(name);
  Settings own = settings;
  const auto around = detail::take_options<ModifierOptions>(own);
  auto optimizer = entry.make(std::move(executor), loss, own);
  if (around.modifiers.empty()) return optimizer;
  const auto three_step = std::dynamic_pointer_cast<ThreeStepOptimizer>(optimizer);
  if (!three_step) {
    throw Unsupported(fmt::format(
        "optimizer {} is no optimizer in three steps, so that nothing can take part in its steps; "
        "leave its modifiers out, or choose another",
        name));
  }
  for (const EntryChoice& choice : around.modifiers) {
    three_step->add(step_modifiers().at(choice.name).make(choice.settings));
  }
  return optimizer;
}

}  // namespace d5
