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
  ExecutorOptions execution = {};            ///< but for its frameworks; `seed` also of inputs
  GivenInputs inputs = {};                   ///< in place of random ones, and of a test folder's
  std::vector<ValueFile> output_files = {};  ///< to write; of one model in one framework
  /// Called after each run, with what it answered, valid until it returns; of one that failed with
  /// nothing.
  std::function<void(const Measurement& record, const ValueMap& outputs)> on_run = {};
  std::string command_options = {};  ///< at the end of every record's command
};

/// What networks answer: each of `models` (words of `open_model`) once in each framework, on what
/// `network_inputs` feeds it. One record a run, its time.
///
///     run_networks({"lenet"}, {.on_run = [](const Measurement&, const ValueMap& outputs) { ...
///     }});
///
/// Of several runs one that fails is a failed record. Throws: ValueError, IoError for output files,
/// before anything runs; what a single run throws.
[[nodiscard]] std::vector<Measurement> run_networks(const std::vector<std::string>& models,
                                                    const NetworkRunOptions& options = {});

}  // namespace d5
