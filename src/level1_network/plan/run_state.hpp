// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "d5/level0_ops/operator/op_context.hpp"
#include "d5/level1_network/graph/placement.hpp"
#include "level1_network/plan/framework_choice.hpp"

namespace d5 {

class ExecutionEvent;
class NestedGraph;

/// Does the same as `onnx::describe` for a node in a nested graph: "Conv
/// 'If_0/then_branch/Conv_3'".
[[nodiscard]] std::string describe(const onnx::Node& node, std::string_view path);

/// State shared by all plans of one executor, including nested graphs.
struct RunState {
  FrameworkChoice frameworks;
  struct PlacedNodes {
    PlacementRule rule;
    FrameworkChoice frameworks;
  };
  std::vector<PlacedNodes> placed;  ///< the first whose rule applies decides
  std::uint64_t seed = 0;
  std::int64_t iteration_budget = 0;
  std::size_t memory_limit = 0;   ///< `ExecutorOptions::memory_limit`
  std::size_t planned = 0;        ///< bytes on the host that the plan of the present run has
  double loss_factor = 1;         ///< `GraphExecutor::set_loss_factor`
  std::uint32_t run = 0;          ///< number of the present run
  std::uint64_t nested_runs = 0;  ///< runs of nested graphs in it
  /// Further bytes held by runs: values, and plans of nested graphs.
  std::shared_ptr<std::size_t> allocated = std::make_shared<std::size_t>(0);
  /// All nested graphs; idle ones free their plans when memory is short.
  std::set<NestedGraph*> nested;
  std::span<ExecutionEvent* const> observers = {};  ///< observers of the current run

  /// The placement rule's frameworks for a node; null without a rule.
  [[nodiscard]] const PlacedNodes* placed_by(const onnx::Node& node) const;
  [[nodiscard]] const FrameworkChoice& frameworks_for(const onnx::Node& node) const;
  /// This executor's single stream on `device`.
  [[nodiscard]] Stream& stream(Device device);
  std::map<Device, std::shared_ptr<Stream>> streams;
  /// Allocates memory that counts against the budget and the limit while it lives, together with
  /// the plans. Throws: MemoryError in the name of `who`.
  [[nodiscard]] Tensor allocate(const TensorDesc& desc, std::string_view who) const;
  /// A copy; characters of strings count as memory, too.
  [[nodiscard]] Tensor copy(const Tensor& tensor, std::string_view who) const;
  /// The same for memory allocated elsewhere: it counts while the result lives.
  [[nodiscard]] std::shared_ptr<void> reserve(std::size_t bytes, std::string_view what) const;

 private:
  [[nodiscard]] std::size_t most_bytes() const;
  /// Whether `bytes` more fit into budget and limit, if necessary after freeing idle plans.
  [[nodiscard]] bool makes_room(std::size_t bytes) const;
  [[nodiscard]] std::shared_ptr<void> counted(std::size_t bytes) const;
  [[noreturn]] void throw_no_room(std::size_t bytes, std::string_view what) const;
};

/// Services of one node of a plan.
class NodeServices final : public RunServices {
 public:
  /// `path`: of the node (`StepInfo::path`).
  NodeServices(RunState& state, const onnx::Node& node, std::string path);
  ~NodeServices() override;
  /// Captures of the graphs that the node runs, by the names that its kernel uses: where the
  /// captured names are in the plan around them.
  using Graphs = std::map<std::string, std::shared_ptr<const onnx::Graph>>;
  /// `value`: null if nothing has the name.
  struct Captured {
    const Value* value = nullptr;
    bool is_constant = false;  ///< known while planning, the same in every run
  };
  using Lookup = std::function<Captured(const std::string&)>;
  void bind_graphs(const Graphs& graphs, Mode mode, const Lookup& outer);
  /// Adds the gradient of `captured`, from backward runs of the node's subgraphs, to `gradient`.
  void accumulate_gradient(const Value& captured, Tensor& gradient) {
    captured_gradients_[&captured] = &gradient;
  }

  Tensor allocate(const TensorDesc& desc) override { return state_.allocate(desc, who_); }
  SubgraphRunner& subgraph(std::string_view attribute) override;
  RandomStream random() override;
  std::int64_t iteration_budget() const override { return state_.iteration_budget; }

 private:
  RunState& state_;
  const std::string path_, who_;
  std::uint32_t stream_;
  std::map<const Value*, Tensor*> captured_gradients_;
  std::map<std::string, std::unique_ptr<NestedGraph>, std::less<>> subgraphs_;
};

}  // namespace d5
