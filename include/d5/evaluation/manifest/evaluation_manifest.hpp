// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/evaluation/manifest/manifest.hpp"
#include "d5/evaluation/manifest/manifest_identity.hpp"

namespace d5 {

/// An evaluation: every model in every framework, under every scenario, with every batch size and
/// trace level.
///
/// Models, data sets, frameworks and systems are named by NAME, NAME@VERSION, or a file's path; a
/// framework may also be a predictor's word ("onnxruntime:session").
struct EvaluationManifest : ManifestIdentity {
  static constexpr const char* kKind = "evaluation";
  std::vector<std::string> models = {};
  std::string dataset = {};  ///< empty: that of each model's first claim
  std::string split = {};    ///< split of it; empty: all samples
  std::vector<std::string> frameworks = {"reference"};
  std::vector<std::string> systems = {};  ///< systems on one of which it must run; empty: any
  std::vector<EntryChoice> scenarios = {};
  std::vector<std::int64_t> batches = {1};
  std::vector<std::string> trace_levels = {"none"};
  std::int64_t repetitions = 1;
  std::int64_t threads = 0;        ///< threads of all instances together; 0: one per core
  std::int64_t instances = 1;      ///< instances of the predictor, which share the threads
  double longest_wait = 0;         ///< s that a query may wait for others to fill its batch
  std::int64_t stage_threads = 1;  ///< threads of each step before the network
  /// Minimum length of a scenario; both 0: as each needs for a verdict (`Scenario::usual_length`).
  std::int64_t queries = 0;
  double seconds = 0;
  /// Limits in s that a good answer keeps (`attainment`, `goodput`); 0: none.
  double ttft_limit = 0, tpot_limit = 0, latency_limit = 0;
  std::int64_t seed = 0;
  bool accuracy = true;  ///< answer and judge all samples before timing

  void declare(ManifestFields& fields);
  /// The fields that a command line or keywords may give.
  void declare(OptionList& options);

 private:
  void declare_run(ManifestFields& fields);
};

}  // namespace d5
