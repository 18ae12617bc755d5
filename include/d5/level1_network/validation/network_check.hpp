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

/// Against what, and how closely, a network is held.
struct NetworkCheckOptions {
  /// Words of `open_executor`; "all" as in `executor_words`.
  std::vector<std::string> frameworks = {"reference"};
  std::string against = "reference";
  OpenSizes sizes = {};
  GivenInputs inputs = {};  ///< in place of random ones; a test folder is held against `against`
  TransformChain transforms = {};
  ExecutorOptions execution = {};  ///< but for its frameworks; `seed` also of inputs
  std::optional<ForwardTolerance> tolerance = {};  ///< empty: the bound that rounding sets
  bool by_node = false;                            ///< by `compare_nodes`
  bool backward = false;                           ///< by `test_executor_backprop`
  std::int64_t numeric = 0;                        ///< by `test_numeric_gradients`
  std::string reduce = {};                         ///< by `reduce_network`
  double slower = 0;
  double reduce_seconds = 600;                                      ///< the most that it takes
  std::function<void(const ReductionProgress&)> on_reduction = {};  ///< called after each try
  Isolation isolation = {};  ///< of the tries of `reduce`: a crash or a hang is a difference
  Interrupt interrupt = {};
  std::function<void()> on_framework = {};  ///< called after each
  std::string command_options = {};         ///< at the end of every record's command

  /// How it is checked, without what all commands of networks take.
  void declare(OptionList& options);
};

/// Whether a network is right: an ONNX test folder against the outputs that it expects; any other,
/// and one on inputs of the caller's, against the framework `against`, on what `network_inputs`
/// feeds it, with the parameters' gradients where it has an output "loss". With transforms that
/// change what rounds nothing, against the network before.
///
///     for (const auto& record : check_network("lenet", {.frameworks = {"torch"}})) ...
///
/// With `reduce` one record, "reduced_nodes": how many nodes are left of the part that differs,
/// failed with the difference, or passed where there is none.
///
/// Of several frameworks one that cannot run it has records that say why; an interrupt keeps what
/// was checked before. Throws: as `expect_checkable`; NotFound, and what opening the model throws;
/// IoError for the folder of `reduce`, ValueError for one of another reduction.
[[nodiscard]] std::vector<Measurement> check_network(const std::string& model,
                                                     const NetworkCheckOptions& options = {});
/// What it would check, compiled for each framework, and not run.
[[nodiscard]] std::vector<Measurement> plan_network_check(const std::string& model,
                                                          const NetworkCheckOptions& options = {});

/// Throws: ValueError for options that do not go together, or not with this model: a test folder
/// has sizes, inputs and no gradients of its own.
void expect_checkable(const std::string& model, const NetworkCheckOptions& options);

}  // namespace d5
