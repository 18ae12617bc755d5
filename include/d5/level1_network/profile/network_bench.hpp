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

/// How networks are measured.
struct NetworkBenchOptions {
  /// Words of `open_executor`, side by side; "all" as in `executor_words`.
  std::vector<std::string> frameworks = {"reference"};
  OpenSizes sizes = {};
  GivenInputs inputs = {};         ///< in place of random ones, and of a test folder's
  TransformChain transforms = {};  ///< of the network, before it is run
  Placement placement = {};
  Device device = {};
  std::size_t memory_limit = 0;             ///< as in `ExecutorOptions`
  std::vector<std::string> recompute = {};  ///< as in `ExecutorOptions`
  std::vector<MetricChoice> metrics = {"time", "framework_overhead"};
  bool profile = false;  ///< which operator costs most: `profile_records` besides
  MeasureOptions measuring = {};
  std::string command_options = {};  ///< at the end of every record's command
};

/// What `d5 net bench` does: inference of one network in several frameworks, interleaved, on what
/// `network_inputs` feeds it.
///
///     std::cout << to_table(bench_network("resnet-50", {.frameworks = {"reference", "torch"}}));
///
/// A framework that cannot run it has a record that says why. Throws: NotFound, and what opening
/// the model throws.
[[nodiscard]] std::vector<Measurement> bench_network(const std::string& model,
                                                     const NetworkBenchOptions& options = {});

/// What `bench_network` would measure, compiled for its inputs and not run: a skipped record for
/// each framework, or one that says why it cannot be.
[[nodiscard]] std::vector<Measurement> plan_network(const std::string& model,
                                                    const NetworkBenchOptions& options = {});

/// Inference of one network in one framework, ready to run again and again; it ran once already.
/// `interrupt` ends that, and what "auto" measures before. Throws: Interrupted.
[[nodiscard]] Subject network_subject(const std::string& model, const std::string& framework,
                                      const OpenSizes& sizes = {},
                                      const ExecutorOptions& execution = {},
                                      const TransformChain& transforms = {},
                                      const Interrupt& interrupt = {},
                                      const GivenInputs& inputs = {});

namespace detail {
/// The subjects that `make` makes, a framework each, side by side; `flags` are of the command.
[[nodiscard]] std::vector<Measurement> bench_side_by_side(
    const std::string& model, const NetworkBenchOptions& options, const std::string& pass,
    const std::string& flags, const std::function<Subject(const std::string& framework)>& make);
/// A record for each framework: skipped after `plan`, or what it threw.
[[nodiscard]] std::vector<Measurement> plan_in_each(
    const std::string& model, const NetworkBenchOptions& options, const std::string& pass,
    const std::function<void(const std::string& framework)>& plan);
/// What the executor's last run was predicted to hold on the host; 0 where it planned none.
[[nodiscard]] double predicted_bytes(GraphExecutor& executor, const ValueMap& inputs,
                                     std::string_view loss = {});
/// The executor's part of how networks are measured.
[[nodiscard]] ExecutorOptions execution_of(const NetworkBenchOptions& options);
/// What is known of a network's record before it runs.
[[nodiscard]] Measurement network_record(const std::string& model, const std::string& framework,
                                         const OpenSizes& sizes, const std::string& pass);
}  // namespace detail

}  // namespace d5
