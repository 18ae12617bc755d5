// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/measuring/isolation.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/level0_ops/validation/operator_validation.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "d5/level1_network/source/network_inputs.hpp"

namespace d5 {

struct ReductionProgress;

/// Options for checking a network.
struct NetworkCheckOptions {
  /// Executors to check, words of `open_executor`; "all" as in `executor_words`.
  std::vector<std::string> frameworks = {"reference"};
  std::string against = "reference";
  OpenSizes sizes = {};
  GivenInputs inputs = {};  ///< instead of random ones; a test folder is then compared with
                            ///< `against`
  TransformChain transforms = {};
  ExecutorOptions execution = {};  ///< except its frameworks; `seed` is also the inputs'
  std::optional<ForwardTolerance> tolerance = {};  ///< empty: the bound of rounding errors
  bool by_node = false;                            ///< by `compare_nodes`
  bool backward = false;                           ///< by `test_executor_backprop`
  std::int64_t numeric = 0;                        ///< by `test_numeric_gradients`
  std::string reduce = {};                         ///< by `reduce_network`
  double slower = 0;
  double reduce_seconds = 600;                                      ///< time limit
  std::function<void(const ReductionProgress&)> on_reduction = {};  ///< called after each try
  Isolation isolation = {};  ///< isolation of `reduce`'s tries: a crash or a hang is a difference
  Interrupt interrupt = {};
  std::function<void()> on_framework = {};  ///< called after each framework
  std::string command_options = {};         ///< end of every record's command

  /// Declares the options of the check, without those of all network commands.
  void declare(OptionList& options);
};

/// Checks a network. An ONNX test folder is compared with the outputs that it expects. Any other
/// network, and a test folder on inputs of the caller's, is compared with the framework `against`
/// on the inputs of `network_inputs`; parameters' gradients are compared too if it has an output
/// "loss". With transforms that keep results up to rounding, it is compared with the network before
/// them.
///
///     for (const auto& record : check_network("lenet", {.frameworks = {"torch"}})) ...
///
/// With `reduce`, one record, "reduced_nodes": the number of nodes left of the part that differs.
/// It failed with the difference, or passed if there is none.
///
/// If there are several frameworks, one that cannot run the network has records with the reason. An
/// interrupt keeps the records so far. Throws: as `expect_checkable`; NotFound, and what opening
/// the model throws; IoError for the folder of `reduce`; ValueError if it holds another reduction.
[[nodiscard]] std::vector<Measurement> check_network(const std::string& model,
                                                     const NetworkCheckOptions& options = {});
/// Compiles what `check_network` would check in each framework, without running it.
[[nodiscard]] std::vector<Measurement> plan_network_check(const std::string& model,
                                                          const NetworkCheckOptions& options = {});

/// Throws: ValueError for options that exclude each other, or do not apply to this model: a test
/// folder has its own sizes and inputs, and no gradients.
void expect_checkable(const std::string& model, const NetworkCheckOptions& options);

}  // namespace d5
