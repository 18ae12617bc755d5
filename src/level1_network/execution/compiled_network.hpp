// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "d5/level0_ops/operator/compiled_model.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level1_network/plan/planned_updates.hpp"

namespace d5 {

struct WholeModel;

/// A network compiled as a whole by a framework, with d5's memory for inputs and outputs.
class CompiledNetwork {
 public:
  /// Purpose of compiling, besides the types and sizes of inputs.
  struct Purpose {
    NetworkMode mode;
    std::string_view loss;
    int threads;
    bool profiled;
    std::uint64_t value_changes;  ///< the network's, now
  };

  /// Throws: as `compile`; NotFound for an unknown name in `options.gradients`.
  CompiledNetwork(Network& network, const Purpose& purpose, const ValueMap& inputs,
                  const ExecutorOptions& options, const ModelCompiler& compile);

  /// Whether it was compiled for this purpose and these inputs.
  [[nodiscard]] bool serves(const Purpose& purpose, const ValueMap& inputs) const;
  /// Whether it is obsolete: the network's values changed, or it was to be profiled for a trace
  /// that has stopped.
  [[nodiscard]] bool is_over(std::uint64_t value_changes) const {
    return over_->load() || (target_.loss.empty() && values_ != value_changes);
  }
  /// Runs on `inputs`, for which it was compiled, and carries out updates of `network`.
  void run(const ValueMap& inputs, Network& network);
  /// Takes note that a run of `other` has changed the network's values from number `before`: what
  /// it updated is an input here, too.
  void follow(const CompiledNetwork& other, std::uint64_t before);
  [[nodiscard]] const std::vector<PlannedUpdate>& planned_updates() const { return planned_; }
  /// Outputs of the last run.
  [[nodiscard]] const ValueMap& outputs() const { return outputs_; }
  /// Gradient of the loss; null if it was not asked for.
  [[nodiscard]] const Tensor* gradient(std::string_view name) const;

 private:
  void place_updates(const Network& network, const WholeModel& whole);
  void add_result(Value& result, const ValueDesc& known);
  void ask_for_gradients(Network& network, const ExecutorOptions& options);

  NetworkMode mode_;
  ModelTarget target_;
  std::uint64_t values_;  ///< `Network::value_changes` of what it holds
  std::shared_ptr<std::atomic<bool>> over_ = std::make_shared<std::atomic<bool>>(false);
  std::vector<std::pair<std::string, ValueDesc>> fed_;
  std::deque<Value> variables_;
  std::vector<const Value*> inputs_;  ///< fed inputs, then variables
  ValueMap outputs_;
  std::deque<Value> others_;  ///< memory of updates and gradients
  std::map<std::string, Value*, std::less<>> gradients_;
  std::vector<Value*> results_;                     ///< all that the model gives, in order
  std::vector<Value*> open_;                        ///< those with sizes known only at run time
  std::vector<std::pair<Tensor, Value*>> updates_;  ///< constants, and what they take over
  std::vector<Tensor> in_place_;                    ///< constants that the model itself updates
  std::vector<PlannedUpdate> planned_;
  std::unique_ptr<CompiledModel> model_;
};

/// Updates of the network that an executor of `make_model_executor` compiled or ran last; null
/// before, and for another executor.
[[nodiscard]] const std::vector<PlannedUpdate>* updates_of_model(const GraphExecutor& executor);

}  // namespace d5
