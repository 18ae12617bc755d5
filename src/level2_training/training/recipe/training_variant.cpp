// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/training/training_variant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/training/trials.hpp"

namespace d5 {

std::vector<TrainingVariant> vary(const Recipe& recipe, const std::string& words) {
  const std::size_t equals = words.find('=');
  const std::string key = words.substr(0, equals);
  if (key == "training.seed") {
    throw ValueError(fmt::format(
        "vary {}: each run has a seed of its own, so that the variants would be equal; ask for "
        "more runs",
        printable(words)));
  }
  std::vector<TrainingVariant> variants;
  std::istringstream values(equals == std::string::npos ? "" : words.substr(equals + 1));
  for (std::string value; std::getline(values, value, ',');) {
    if (std::ranges::find(variants, value, &TrainingVariant::name) != variants.end()) {
      throw ValueError(
          fmt::format("vary {}: {} is there twice", printable(words), printable(value)));
    }
    TrainingVariant& one = variants.emplace_back(
        TrainingVariant{.name = value, .recipe = recipe, .differs = {{key, value}}});
    one.recipe.set(fmt::format("{}={}", key, value));
  }
  if (variants.size() >= 2) return variants;
  throw ValueError(
      fmt::format("vary {}: expected a key and two values or more, as "
                  "optimizer.name=adam,momentum",
                  printable(words)));
}

std::vector<TrainingVariant> variants_of_trials(const Recipe& recipe, std::int64_t trials) {
  std::vector<TrainingVariant> variants;
  for (const Recipe& one : trials_of(recipe, trials)) {
    TrainingVariant variant{.recipe = one};
    for (const auto& range : recipe.ranges()) {
      const std::string& text = one.values().find(range.key)->second.text;
      variant.differs[range.key] = text;
      variant.name += fmt::format("{}{}={}", variant.name.empty() ? "" : " ", range.key, text);
    }
    variants.push_back(std::move(variant));
  }
  return variants;
}

std::vector<TrainingVariant> in_each(const std::vector<TrainingVariant>& variants,
                                     const std::vector<std::string>& frameworks) {
  std::vector<TrainingVariant> all;
  for (const auto& variant : variants) {
    for (const auto& framework : frameworks) {
      TrainingVariant& one = all.emplace_back(variant);
      one.framework = framework;
      if (frameworks.size() == 1) continue;
      one.name += (one.name.empty() ? "" : " in ") + framework;
    }
  }
  return all;
}

std::optional<BestVariant> best_of(const std::vector<std::vector<Measurement>>& joined) {
  std::optional<BestVariant> best;
  for (std::size_t i = 0; i < joined.size(); ++i) {
    const auto place = std::ranges::find(joined[i], "test_accuracy", &Measurement::metric);
    if (place == joined[i].end() || place->samples.empty()) continue;
    const double accuracy = estimate(*place).value;
    if (!best || accuracy > best->test_accuracy) best = {i, accuracy};
  }
  return best;
}

}  // namespace d5
