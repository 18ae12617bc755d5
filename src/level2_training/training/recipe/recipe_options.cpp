// SPDX-License-Identifier: Apache-2.0
#include "level2_training/training/recipe/recipe_options.hpp"

#include "d5/core/errors/error.hpp"
#include "d5/core/measuring/metric.hpp"
#include "d5/level1_network/source/models.hpp"
#include "d5/level2_training/data/batch_step.hpp"
#include "d5/level2_training/data/dataset.hpp"
#include "d5/level2_training/data/transformed_dataset.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"
#include "d5/level2_training/training/recipe.hpp"
#include "level2_training/training/trained_model.hpp"

namespace d5::detail {
namespace {

constexpr const char* kUsualSampler = "shuffle";

void add(const std::vector<Option>& options, OptionTypes& types) {
  for (const Option& option : options) types[option.name] = option.type;
}

void add_metrics(OptionTypes& types) {
  for (const std::string& metric : metrics().names()) {
    types[metric] = "";
    for (const Option& option : metrics().at(metric).options()) {
      types[metric + "." + option.name] = option.type;
    }
  }
}

}  // namespace

const std::vector<std::string>& recipe_sections() {
  static const std::vector<std::string> sections{"dataset",     "model",    "sampler", "optimizer",
                                                 "distributed", "training", "metrics"};
  return sections;
}

OptionTypes entry_options(const std::string& section, const std::string& name) {
  OptionTypes types;
  try {
    if (section == "optimizer") add(find_optimizer(name).options(), types);
    if (section == "sampler") {
      add(samplers().at(name.empty() ? kUsualSampler : name).options(), types);
    }
    if (section == "model") add(models().at(name).options(), types);
    if (section == "dataset") add(datasets().at(name).options(), types);
  } catch (const Error&) {
    types.clear();  // opening it says why
  }
  return types;
}

OptionTypes section_options(const std::string& section, const std::string& name) {
  if (section == "model") {
    const bool from_file = name == "file";
    OptionTypes types = from_file ? OptionTypes{} : entry_options(section, name);
    add(model_options(from_file), types);
    return types;
  }
  OptionTypes types = entry_options(section, name);
  if (section == "training") add(options_of<TrainingOptions>(), types);
  if (section == "metrics") add_metrics(types);
  if (section == "dataset") add(options_of<StepOptions>(), types);
  if (section == "sampler") add(options_of<BatchStepOptions>(), types);
  if (section == "optimizer") {
    add(options_of<ModifierOptions>(), types);
    types["schedules"] = "";
  }
  if (section != "training" && section != "metrics") types["name"] = "";
  return types;
}

}  // namespace d5::detail
