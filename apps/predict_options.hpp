// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "apps/execution_options.hpp"
#include "apps/options.hpp"
#include "d5/core/option.hpp"
#include "d5/prediction/local_prediction.hpp"
#include "d5/prediction/network_description.hpp"

namespace d5::app {

struct PredictOptions : OutputOptions, RunOptions, ExecutionOptions {
  std::string model, ranks, wire, measure, pictures, keep, budget;
  std::string scheme = "consistent_decentralized:all_reduce=ring";
  std::string optimizer = "sgd:learning_rate=1e-12";
  std::vector<std::string> networks, strategies;
  std::int64_t batch = 16, steps = 30;
  bool strong = false;

  [[nodiscard]] bool is_of_profile() const { return model.ends_with(".json"); }
};
/// `measures_here` is of the processes that `--measure` starts.
void add_predict_options(CLI::App& command, PredictOptions& options, bool& measures_here);

/// Those that were named; else the modelled wire; else one that d5 carries.
[[nodiscard]] std::vector<NetworkDescription> networks_of(const PredictOptions& options);
/// Of clusters. Throws: ValueError.
[[nodiscard]] std::vector<int> cluster_ranks_of(const PredictOptions& options);
/// "buckets:bytes=1048576,compute:factor=2"
[[nodiscard]] std::vector<EntryChoice> strategies_of(const std::string& words);
/// What starts this program anew on ranks of this machine.
[[nodiscard]] LocalCommands local_commands(const PredictOptions& options);

}  // namespace d5::app
