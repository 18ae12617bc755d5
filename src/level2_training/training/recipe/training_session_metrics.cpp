// SPDX-License-Identifier: Apache-2.0
// Metrics of a training: the recipe's, requested ones, and the names that they read.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "d5/core/entries/entry_words.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level2_training/training/training_session.hpp"
#include "level2_training/training/test_mean.hpp"
#include "level2_training/training/trained_model.hpp"

namespace d5 {

void TrainingSession::make_metrics() {
  std::vector<std::string> names = recipe_.names_below("metrics");
  std::vector<std::string> usual{"loss", "epoch_time", "batch_time"};
  if (model_->tells_classes) {
    usual.insert(usual.begin(), "training_accuracy");
    if (test_) usual.insert(usual.begin() + 1, "test_accuracy");
  }
  for (const std::string& name : usual) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  for (const auto& acceptable : recipe_.acceptable()) {
    if (std::ranges::find(names, acceptable.metric) == names.end())
      names.push_back(acceptable.metric);
  }
  std::map<std::string, Settings> asked;
  for (const MetricChoice& choice : options_.metrics) {
    if (choice.name().empty()) {
      metrics_.push_back(choice.make());
      continue;
    }
    if (std::ranges::find(names, choice.name()) == names.end()) names.push_back(choice.name());
    asked[choice.name()] = entry_of_words("metric", choice.to_line()).settings;
  }
  for (const std::string& name : names) metrics_.push_back(choice_of(name, asked[name]).make());
}

/// Resolves names before hours of training instead of after them.
void TrainingSession::resolve_names() {
  const auto resolve = [&](const auto& one) {
    if (auto* event = dynamic_cast<TrainingEvent*>(one.get())) event->resolve(*trainer_);
  };
  std::ranges::for_each(metrics_, resolve);
  std::ranges::for_each(options_.observers, resolve);
  detail::expect_tests(*trainer_);
}

/// Ranks keep their parts of the test set unless an observer on any rank needs all of it.
void TrainingSession::share_tests() {
  if (!test_ || !options_.make_test_sampler) return;
  const auto wants_all = [](const auto& one) {
    const auto* event = dynamic_cast<const TrainingEvent*>(one.get());
    return event && event->wants_whole_tests();
  };
  const bool mine = std::ranges::any_of(metrics_, wants_all) ||
                    std::ranges::any_of(options_.observers, wants_all);
  if (optimizer_->agreement().any(mine)) test_->take_batches(0, 1);
}

/// Settings of a metric: requested ones or the recipe's, with the model's names as defaults.
/// Throws: ValueError for a setting that the recipe fixes.
MetricChoice TrainingSession::choice_of(const std::string& metric, const Settings& asked) const {
  const MetricEntry& entry = metrics().at(metric);
  Settings settings(fmt::format("{}: metric {}", printable(recipe_.file()), metric),
                    recipe_.section("metrics." + metric).values());
  for (const auto& [name, text] : asked.values()) {
    const auto written = recipe_.values().find(fmt::format("metrics.{}.{}", metric, name));
    const bool is_fixed = written != recipe_.values().end() && written->second.fixed;
    if (is_fixed && written->second.text != text) {
      throw ValueError(fmt::format("{}: {} of metric {} is fixed at {}, and {} was asked for",
                                   recipe_.place_of(written->second.line), printable(name), metric,
                                   printable(written->second.text), printable(text)));
    }
    settings.set(name, text);
  }
  entry.offer(settings, "logits", model_->logits);
  entry.offer(settings, "label", model_->label);
  return {metric, std::move(settings)};
}

}  // namespace d5
