// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/evaluation/manifest/manifest.hpp"
#include "d5/evaluation/manifest/manifest_identity.hpp"

namespace d5 {

/// What is evaluated: every model in every framework, under every scenario, with every size of
/// batch and level of trace.
///
/// Models, data sets, frameworks and systems are named NAME, NAME@VERSION, or by a file's path; a
/// framework may be a predictor's word too ("onnxruntime:session").
struct EvaluationManifest : ManifestIdentity {
  static constexpr const char* kKind = "evaluation";
  std::vector<std::string> models = {};
  std::string dataset = {};  ///< empty: the one of each model's first claim
  std::string split = {};    ///< of it; empty: all samples
  std::vector<std::string> frameworks = {"reference"};
  std::vector<std::string> systems = {};  ///< of one of these it must run; empty: any
  std::vector<EntryChoice> scenarios = {};
  std::vector<std::int64_t> batches = {1};
  std::vector<std::string> trace_levels = {"none"};
  std::int64_t repetitions = 1;
  std::int64_t threads = 0;        ///< of all instances; 0: as many as the machine has cores
  std::int64_t instances = 1;      ///< of the predictor, which share the threads
  double longest_wait = 0;         ///< s that a query may wait for others to fill its batch
  std::int64_t stage_threads = 1;  ///< of each step before the network
  /// Of a scenario, at least; both 0: as long as each needs for a verdict
  /// (`Scenario::usual_length`).
  std::int64_t queries = 0;
  double seconds = 0;
  std::int64_t seed = 0;
  bool accuracy = true;  ///< all samples are answered and judged before anything is timed

  void declare(ManifestFields& fields);
  /// The fields that say how it is run, for who gives them on a command line or by keywords.
  void declare(OptionList& options);

 private:
  void declare_run(ManifestFields& fields);
};

}  // namespace d5
