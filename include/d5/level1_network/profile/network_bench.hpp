// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "d5/core/measuring/measure.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "d5/level1_network/source/network_inputs.hpp"

namespace d5 {

/// Options for measuring networks.
struct NetworkBenchOptions {
  /// Executors to compare, words of `open_executor`; "all" as in `executor_words`.
  std::vector<std::string> frameworks = {"reference"};
  OpenSizes sizes = {};
  GivenInputs inputs = {};         ///< instead of random ones, and of a test folder's
  TransformChain transforms = {};  ///< applied to the network before it runs
  Placement placement = {};
  Device device = {};
  std::size_t memory_limit = 0;             ///< as in `ExecutorOptions`
  std::vector<std::string> recompute = {};  ///< as in `ExecutorOptions`
  std::vector<MetricChoice> metrics = {"time", "framework_overhead"};
  bool profile = false;  ///< also profile operators by `profile_records`
  MeasureOptions measuring = {};
  std::string command_options = {};  ///< end of every record's command
};

/// Measures inference of one network in several frameworks, interleaved, on the inputs of
/// `network_inputs`. The command `d5 net bench`.
///
///     std::cout << to_table(bench_network("resnet-50", {.frameworks = {"reference", "torch"}}));
///
/// A framework that cannot run the network gets a record with the reason. Throws: NotFound, and
/// what opening the model throws.
[[nodiscard]] std::vector<Measurement> bench_network(const std::string& model,
                                                     const NetworkBenchOptions& options = {});

/// Compiles what `bench_network` would measure, without running it. Returns one record per
/// framework: skipped, or with the reason why it cannot run.
[[nodiscard]] std::vector<Measurement> plan_network(const std::string& model,
                                                    const NetworkBenchOptions& options = {});

/// Inference of one network in one framework, ready for repeated runs; it has run once. `interrupt`
/// ends that run, and the measurements of "auto" before it. Throws: Interrupted.
[[nodiscard]] Subject network_subject(const std::string& model, const std::string& framework,
                                      const OpenSizes& sizes = {},
                                      const ExecutorOptions& execution = {},
                                      const TransformChain& transforms = {},
                                      const Interrupt& interrupt = {},
                                      const GivenInputs& inputs = {});

namespace detail {
/// Measures the subjects of `make`, one per framework, side by side; `flags` belong to the command.
[[nodiscard]] std::vector<Measurement> bench_side_by_side(
    const std::string& model, const NetworkBenchOptions& options, const std::string& pass,
    const std::string& flags, const std::function<Subject(const std::string& framework)>& make);
/// One record per framework: skipped after `plan`, or with the error that it threw.
[[nodiscard]] std::vector<Measurement> plan_in_each(
    const std::string& model, const NetworkBenchOptions& options, const std::string& pass,
    const std::function<void(const std::string& framework)>& plan);
/// Predicted host memory of the executor's last run; 0 without a plan.
[[nodiscard]] double predicted_bytes(GraphExecutor& executor, const ValueMap& inputs,
                                     std::string_view loss = {});
/// The executor's part of the options.
[[nodiscard]] ExecutorOptions execution_of(const NetworkBenchOptions& options);
/// The parts of a network's record that are known before it runs.
[[nodiscard]] Measurement network_record(const std::string& model, const std::string& framework,
                                         const OpenSizes& sizes, const std::string& pass);
}  // namespace detail

}  // namespace d5
