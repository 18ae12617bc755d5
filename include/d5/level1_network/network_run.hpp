// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "d5/core/measurement.hpp"
#include "d5/level1_network/model_source.hpp"

namespace d5 {

/// The value of an input or output, in NumPy's kind of file (.npy) or ONNX's (.pb).
struct ValueFile {
  std::string name = {}, path = {};
};
/// From words NAME=FILE.npy or NAME=FILE.pb; `option` begins messages. Throws: ValueError for
/// others.
[[nodiscard]] std::vector<ValueFile> value_files(const std::vector<std::string>& words,
                                                 const std::string& option);

struct NetworkRunOptions {
  std::vector<std::string> frameworks = {"reference"};  ///< words of `open_executor`
  OpenSizes sizes = {};
  TransformChain transforms = {};
  ExecutorOptions execution = {};            ///< but for its frameworks; `seed` also of inputs
  ValueMap inputs = {};                      ///< in place of random ones, and of a test folder's
  std::vector<ValueFile> input_files = {};   ///< likewise
  std::vector<ValueFile> output_files = {};  ///< to write; of one model in one framework
  /// Called after each run, with what it answered, valid until it returns; of one that failed with
  /// nothing.
  std::function<void(const Measurement& record, const ValueMap& outputs)> on_run = {};
  std::string command_options = {};  ///< at the end of every record's command
};

/// What networks answer: each of `models` (words of `open_model`) once in each framework, on a test
/// folder's first data set, otherwise on random inputs. One record a run, its time.
///
///     run_networks({"lenet"}, {.on_run = [](const Measurement&, const ValueMap& outputs) { ...
///     }});
///
/// Of several runs one that fails is a failed record. Throws: ValueError, IoError for output files,
/// before anything runs; what a single run throws.
[[nodiscard]] std::vector<Measurement> run_networks(const std::vector<std::string>& models,
                                                    const NetworkRunOptions& options = {});

}  // namespace d5
