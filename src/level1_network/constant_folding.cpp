// SPDX-License-Identifier: Apache-2.0
#include "level1_network/constant_folding.hpp"

#include "d5/core/error.hpp"
#include "d5/level0_ops/node_run.hpp"

namespace d5 {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20;

/// Thrown through a kernel that cannot be folded; no error.
struct NotFoldable {};

class FoldingServices final : public RunServices {
 public:
  Tensor allocate(const TensorDesc& desc) override {
    if (desc.bytes() > kMostBytes) throw NotFoldable{};
    return Tensor::empty(desc);
  }
  SubgraphRunner& subgraph(std::string_view) override { throw NotFoldable{}; }
  RandomStream random() override { throw NotFoldable{}; }
  std::int64_t iteration_budget() const override { return 1'000; }
};

}  // namespace

std::optional<std::vector<Value>> fold(const onnx::Node& node, const Operator& op,
                                       std::span<const Value* const> inputs,
                                       const RunState& state) {
  FoldingServices services;
  std::vector<Value> values(node.outputs.size());
  std::vector<Value*> outputs;
  for (std::size_t k = 0; k < values.size(); ++k) {
    outputs.push_back(node.has_output(k) ? &values[k] : nullptr);
  }
  try {
    NodeRun run(node, op, state.frameworks(), {}, services);
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
