// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "d5/core/results/measurement.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "d5/level1_network/source/network_inputs.hpp"

namespace d5 {

struct NetworkRunOptions {
  std::vector<std::string> frameworks = {"reference"};  ///< words of `open_executor`
  OpenSizes sizes = {};
  TransformChain transforms = {};
  ExecutorOptions execution = {};            ///< except its frameworks; `seed` is also the inputs'
  GivenInputs inputs = {};                   ///< instead of random ones, and of a test folder's
  std::vector<ValueFile> output_files = {};  ///< files to write; requires one model in one
                                             ///< framework
  /// Called after each run with its outputs, valid during the call; empty for a failed run.
  std::function<void(const Measurement& record, const ValueMap& outputs)> on_run = {};
  std::string command_options = {};  ///< end of every record's command
};

/// Runs each of `models` (words of `open_model`) once in each framework, on the inputs of
/// `network_inputs`. Returns one record per run, with its time.
///
///     run_networks({"lenet"}, {.on_run = [](const Measurement&, const ValueMap& outputs) { ...
///     }});
///
/// If there are several runs, a failing one becomes a failed record. Throws: ValueError, IoError
/// for output files, before anything runs; what a single run throws.
[[nodiscard]] std::vector<Measurement> run_networks(const std::vector<std::string>& models,
                                                    const NetworkRunOptions& options = {});

}  // namespace d5
