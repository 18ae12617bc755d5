// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "d5/evaluation/evaluation_manifest.hpp"

namespace d5 {

/// What a command line or a call says of an evaluation; the rest stays as its manifest has it.
struct EvaluationChanges {
  std::optional<std::vector<std::string>> frameworks = {}, trace_levels = {};
  std::optional<std::vector<std::string>> scenarios = {};  ///< in words: "poisson:rate=20"
  std::optional<std::vector<std::int64_t>> batches = {};
  std::optional<std::string> dataset = {}, split = {};
  std::optional<std::int64_t> queries = {}, seed = {}, stage_threads = {}, instances = {},
                              repetitions = {};
  std::optional<double> seconds = {}, longest_wait = {};
  std::optional<bool> accuracy = {};
};

/// The evaluation that is named by its manifest's name or file, with "all" of its frameworks found;
/// or one called `name` of the models that are named, each asked by single_stream in the reference.
/// Throws: ValueError where nothing is named; as `find_manifest`.
[[nodiscard]] EvaluationManifest asked_evaluation(const std::vector<std::string>& what,
                                                  const std::string& name);

/// Throws: NotFound for a scenario that is none, FormatError for words that are none.
void change_evaluation(EvaluationManifest& manifest, const EvaluationChanges& changes);

}  // namespace d5
