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

void add(const std::vector<Option>& options, std::set<std::string>& names) {
  for (const Option& option : options) names.insert(option.name);
}

void add_metrics(std::set<std::string>& names) {
  for (const std::string& metric : metrics().names()) {
    names.insert(metric);
    for (const Option& option : metrics().at(metric).options()) {
      names.insert(metric + "." + option.name);
    }
  }
}

}  // namespace

const std::vector<std::string>& recipe_sections() {
  static const std::vector<std::string> sections{"dataset",     "model",    "sampler", "optimizer",
                                                 "distributed", "training", "metrics"};
  return sections;
}

std::set<std::string> entry_options(const std::string& section, const std::string& name) {
  std::set<std::string> names;
  try {
    if (section == "optimizer") add(find_optimizer(name).options(), names);
    if (section == "sampler") {
      add(samplers().at(name.empty() ? kUsualSampler : name).options(), names);
    }
    if (section == "model") add(models().at(name).options(), names);
    if (section == "dataset") add(datasets().at(name).options(), names);
  } catch (const Error&) {
    names.clear();  // opening it says why
  }
  return names;
}

std::set<std::string> section_options(const std::string& section, const std::string& name) {
  if (section == "model") {
    const bool from_file = name == "file";
    std::set<std::string> names =
        from_file ? std::set<std::string>{} : entry_options(section, name);
    add(model_options(from_file), names);
    return names;
  }
  std::set<std::string> names = entry_options(section, name);
  if (section == "training") add(options_of<TrainingOptions>(), names);
  if (section == "metrics") add_metrics(names);
  if (section == "dataset") add(options_of<StepOptions>(), names);
  if (section == "sampler") add(options_of<BatchStepOptions>(), names);
  if (section == "optimizer") {
    add(options_of<ModifierOptions>(), names);
    names.insert("schedules");
  }
  if (section != "training" && section != "metrics") names.insert("name");
  return names;
}

}  // namespace d5::detail
