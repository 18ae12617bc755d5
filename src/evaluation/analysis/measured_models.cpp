// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/analysis/measured_models.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "d5/evaluation/accuracy/accuracy_measure.hpp"

namespace d5 {
namespace {

void keep_best(const Measurement& record, double value, MeasuredModel& model) {
  const bool is_median =
      record.statistic.of == Statistic::Of::quantile && record.statistic.quantile == 0.5;
  if (record.metric == "latency") {
    if (is_median) model.latency = std::min(model.latency.value_or(value), value);
  } else if (record.metric == "throughput") {
    model.throughput = std::max(model.throughput.value_or(value), value);
  } else {
    double& best = model.accuracy.try_emplace(record.metric, value).first->second;
    best = std::max(best, value);
  }
}

}  // namespace

std::vector<MeasuredModel> measured_models(const EvaluationDatabase& database) {
  std::map<std::pair<std::string, std::string>, MeasuredModel> models;
  std::vector<std::string> metrics = accuracy_measures().names();
  metrics.insert(metrics.end(), {"latency", "throughput"});
  database.passed_values(
      {.level = "evaluation"}, metrics, "", [&](const StoredMeasurement& stored, bool) {
        const Measurement& record = stored.record;
        if (!std::isfinite(stored.estimate.value)) return;
        const std::string name = record.subject.substr(0, record.subject.find('@'));
        MeasuredModel& model = models[{name, record.framework}];
        model.model = name;
        model.framework = record.framework;
        keep_best(record, stored.estimate.value, model);
      });
  std::vector<MeasuredModel> all;
  for (auto& [key, model] : models) all.push_back(std::move(model));
  return all;
}

}  // namespace d5
