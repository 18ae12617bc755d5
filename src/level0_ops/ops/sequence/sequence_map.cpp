// SPDX-License-Identifier: Apache-2.0
// SequenceMap: runs a graph on each element of sequences.
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/level0_ops/operator/subgraph_runner.hpp"
#include "d5/onnx/nodes.hpp"

namespace d5::ops {
namespace {

/// Other sequences have the length of the first; tensors are passed to every run.
class SequenceMapKernel final : public Kernel {
 public:
  void forward(OpContext& context) override {
    SubgraphRunner& body = context.services().subgraph("body");
    if (body.output_count() < context.output_count()) {
      throw ShapeError(fmt::format("{}: {} outputs are wanted, but the body has {}", context.who(),
                                   context.output_count(), body.output_count()));
    }
    const std::size_t length = context.input_value(0).sequence().values.size();
    std::vector<Sequence> outputs(context.outputs.size());
    std::vector<Value> arguments(context.input_count());
    for (std::size_t t = 0; t < length; ++t) {
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        const Value& input = context.input_value(i);
        if (input.kind() != ValueKind::sequence) {
          arguments[i] = input;
        } else if (const auto& values = input.sequence().values; values.size() == length) {
          arguments[i] = values[t];
        } else {
          throw ShapeError(fmt::format("{}: sequences of {} and {} elements", context.who(), length,
                                       values.size()));
        }
      }
      const std::span<Value> results = body.run(arguments);
      for (std::size_t k = 0; k < outputs.size(); ++k) {
        outputs[k].element = results[k].desc();
        outputs[k].values.push_back(std::move(results[k]));
      }
    }
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      if (context.wants_output(k)) context.set_output(k, std::move(outputs[k]));
    }
  }
};

/// The outputs are known only at run time; the work is counted at the body's nodes.
class SequenceMap final : public MovingOperator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return std::vector<ValueDesc>(context.output_count());
  }
  std::unique_ptr<Kernel> plan(PlanContext&) const override {
    return std::make_unique<SequenceMapKernel>();
  }
};

}  // namespace

void register_sequence_map(OperatorRegistry& registry) {
  registry.add<SequenceMap, onnx::nodes::SequenceMap>();
}

}  // namespace d5::ops
