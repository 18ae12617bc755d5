// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "d5/level0_ops/op_context.hpp"
#include "d5/level1_network/placement.hpp"
#include "level1_network/plan/framework_choice.hpp"

namespace d5 {

class NestedGraph;

/// What all plans of one executor share, nested graphs too.
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
  std::shared_ptr<std::size_t> allocated =
      std::make_shared<std::size_t>(0);  ///< bytes, while running

  /// Null for a node that no rule places.
  [[nodiscard]] const PlacedNodes* placed_by(const onnx::Node& node) const;
  [[nodiscard]] const FrameworkChoice& frameworks_for(const onnx::Node& node) const;
  /// The one stream on which this executor's work on `device` queues up.
  [[nodiscard]] Stream& stream(Device device);
  std::map<Device, std::shared_ptr<Stream>> streams;
  /// Memory that counts against the budget as long as it lives, and with what is planned against
  /// the limit. Throws: MemoryError.
  [[nodiscard]] Tensor allocate(const TensorDesc& desc) const;
};

/// Services of one node of a plan.
class NodeServices final : public RunServices {
 public:
  NodeServices(RunState& state, const onnx::Node& node);
  ~NodeServices() override;
  /// For the graphs that the node runs, by the names that its kernel asks for: where the names that
  /// they capture are, in the plan around them.
  using Graphs = std::map<std::string, std::shared_ptr<const onnx::Graph>>;
  using Lookup = std::function<const Value*(const std::string&)>;
  void bind_graphs(const Graphs& graphs, Mode mode, const Lookup& outer);
  /// Going back through the node's subgraphs adds to `gradient` that of `captured`.
  void accumulate_gradient(const Value& captured, Tensor& gradient) {
    captured_gradients_[&captured] = &gradient;
  }

  Tensor allocate(const TensorDesc& desc) override { return state_.allocate(desc); }
  SubgraphRunner& subgraph(std::string_view attribute) override;
  RandomStream random() override;
  std::int64_t iteration_budget() const override { return state_.iteration_budget; }

 private:
  RunState& state_;
  std::uint32_t stream_;
  std::map<const Value*, Tensor*> captured_gradients_;
  std::map<std::string, std::unique_ptr<NestedGraph>, std::less<>> subgraphs_;
};

}  // namespace d5
