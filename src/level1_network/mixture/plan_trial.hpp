// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/measuring/turn_clock.hpp"
#include "d5/level1_network/graph/execution_event.hpp"
#include "level1_network/mixture/unchanged_tensors.hpp"
#include "level1_network/mixture/value_sketch.hpp"
#include "level1_network/plan/compile.hpp"

namespace d5 {

/// Assignment of kernels: a framework tried before all other candidates, also for nodes in nested
/// graphs and nodes with dynamic shapes, and others for single nodes.
struct KernelAssignment {
  std::string first = {};
  std::map<std::string, std::string, std::less<>> kernels = {};  ///< keyed by the node's first
                                                                 ///< output
};

/// Tensors that some node reads, or that are outputs of the network.
[[nodiscard]] std::set<std::string, std::less<>> needed_tensors(const CompileRequest& request);

/// Environment of trials, and the clock that they read.
struct TrialBench {
  const CompileRequest& request;
  RunState& state;
  std::vector<const OperatorRegistry*> candidates;  ///< in their usual order
  const ValueMap& inputs;
  std::uint64_t value_changes;  ///< value changes of the network
  TurnClock clock;
  std::vector<ExecutionEvent*> observers = {};  ///< observers that may end it by throwing
  std::set<std::string, std::less<>> needed = needed_tensors(request);

  [[nodiscard]] bool goes_back() const { return !request.loss.empty() || !request.seeds.empty(); }
};

/// Applies `assignment` to the request. Plans that `state` makes later, such as those of nested
/// graphs, try frameworks in the same order.
[[nodiscard]] CompileRequest assigned(CompileRequest request, RunState& state,
                                      const std::vector<const OperatorRegistry*>& candidates,
                                      const KernelAssignment& assignment);

/// The network planned for one assignment, and run on the caller's values as usual, except that
/// updates are not carried out. Its nodes are those of the plan in order, without transfers; the
/// time of a transfer counts for the node after it.
///
/// Units: seconds of the bench's clock, forward and backward together.
class PlanTrial final : private ExecutionEvent {
 public:
  /// Throws: as `compile`.
  PlanTrial(const TrialBench& bench, KernelAssignment assignment);

  /// Runs once to warm up, and sketches what each node computes. Changes to read-only tensors are
  /// undone. Returns false if it took longer and ended before its last step.
  /// Throws: what kernels throw; ContractError for a kernel that changes what it reads;
  /// `failed_node` then names its node.
  bool warm_up(double most_seconds);
  /// Call it between the turns of two trials: lets the other's threads come to rest, and warms this
  /// up.
  void settle();
  /// Runs with the clock read around each step. Returns false if it takes longer, and ends before
  /// its last step.
  bool time_nodes(double most_seconds);
  /// Times a normal run as a whole.
  double time_whole();

  [[nodiscard]] std::size_t nodes() const { return infos_.size(); }
  [[nodiscard]] const StepInfo& info(std::size_t node) const { return *infos_[node]; }
  [[nodiscard]] const KernelAssignment& assignment() const { return assignment_; }
  [[nodiscard]] bool runs_in(std::size_t node, std::string_view framework) const {
    return infos_[node]->framework == framework;
  }
  /// Time of a node in the last run; empty for a node that was not reached.
  [[nodiscard]] std::optional<double> seconds(std::size_t node) const;
  [[nodiscard]] double total_seconds() const { return total_; }
  [[nodiscard]] std::size_t failed_node() const { return current_; }
  /// Sketches of what a node wrote in `warm_up`: outputs, and gradients of its inputs. Empty if it
  /// cannot be sketched, or was not reached.
  using Sketches = std::vector<std::optional<ValueSketch>>;
  [[nodiscard]] const Sketches& outputs(std::size_t node) const { return outputs_[node]; }
  [[nodiscard]] const Sketches& gradients(std::size_t node) const { return gradients_[node]; }

  [[nodiscard]] Plan& plan() { return *plan_; }
  [[nodiscard]] std::unique_ptr<Plan> take_plan() { return std::move(plan_); }
  [[nodiscard]] std::size_t reorders() const;
  /// Size of the plan's memory.
  [[nodiscard]] std::size_t bytes() const;

 private:
  void before_node(const StepInfo& step) override;
  void after_node(const StepInfo& step) override;
  void bind();
  void run(double most_seconds);
  void keep_what_is_read(const StepInfo& step);
  void look_at(const StepInfo& step, std::size_t node);

  const TrialBench& bench_;
  KernelAssignment assignment_;
  std::unique_ptr<Plan> plan_;
  std::vector<const StepInfo*> infos_;                ///< forward, of each node
  std::map<const onnx::Node*, std::size_t> node_of_;  ///< transfers, too
  std::vector<double> sums_;
  std::vector<bool> reached_;
  std::vector<Sketches> outputs_, gradients_;
  std::optional<UnchangedTensors> read_;  ///< tensors that the current step reads, while `looks_`
  double begin_ = 0, deadline_ = 0, total_ = 0;
  double shortest_ = std::numeric_limits<double>::infinity();
  std::size_t current_ = 0, gradients_seen_ = 0;
  bool ended_ = false, looks_ = false;
};

}  // namespace d5
