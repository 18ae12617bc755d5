// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "d5/evaluation/database/evaluation_database.hpp"

namespace d5 {

/// The best that passed of a model in a framework, over all versions, machines and scenarios.
struct MeasuredModel {
  std::string model;  ///< without its version
  std::string framework;
  std::optional<double> latency = {};           ///< smallest median, in seconds
  std::optional<double> throughput = {};        ///< largest, in samples a second
  std::map<std::string, double> accuracy = {};  ///< largest value by measure
};

/// What a database knows of each model in each framework, in the order of their names. Of all
/// records only values are read. Throws: as `EvaluationDatabase`.
[[nodiscard]] std::vector<MeasuredModel> measured_models(const EvaluationDatabase& database);

}  // namespace d5
