// SPDX-License-Identifier: Apache-2.0
#include "level1_network/plan/constant_folding.hpp"

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/run/node_run.hpp"

namespace d5 {
namespace {

/// Thrown by a kernel that cannot be folded; not an error.
struct NotFoldable {};

class FoldingServices final : public RunServices {
 public:
  FoldingServices(const RunState& state, const onnx::Node& node)
      : state_(state), who_(onnx::describe(node)) {}
  Tensor allocate(const TensorDesc& desc) override { return state_.allocate(desc, who_); }
  SubgraphRunner& subgraph(std::string_view) override { throw NotFoldable{}; }
  RandomStream random() override { throw NotFoldable{}; }
  std::int64_t iteration_budget() const override { return 1'000; }

 private:
  const RunState& state_;
  const std::string who_;
};

}  // namespace

std::optional<std::vector<Value>> fold(const onnx::Node& node, const Operator& op,
                                       std::span<const Value* const> inputs,
                                       const std::vector<const OperatorRegistry*>& frameworks,
                                       const RunState& state) {
  FoldingServices services(state, node);
  std::vector<Value> values(node.outputs.size());
  std::vector<Value*> outputs;
  for (std::size_t k = 0; k < values.size(); ++k) {
    outputs.push_back(node.has_output(k) ? &values[k] : nullptr);
  }
  try {
    NodeRun run(node, op, frameworks, {}, services);
    run.plan(inputs, outputs);
    run.forward();
  } catch (const NotFoldable&) {
    return std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
  return values;
}

}  // namespace d5
