// SPDX-License-Identifier: Apache-2.0
#include "level1_network/operator_choice.hpp"

#include <algorithm>
#include <deque>
#include <limits>

#include "d5/core/clock.hpp"
#include "d5/core/error.hpp"
#include "level1_network/dynamic_operator.hpp"

namespace d5 {
namespace {

/// Enough to tell a fast operator from a slow one; compiling must not last.
constexpr int kMostRuns = 5;
constexpr double kMostSeconds = 0.05;

/// One operator on values of its own.
class Trial {
 public:
  Trial(const onnx::Node& node, std::span<const ValueDesc> inputs,
        std::span<const Value* const> constants, const OperatorRegistry& registry)
      : node_(node) {
    state_.registries = {&registry};
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].kind == ValueKind::none) {
        inputs_.push_back(nullptr);
      } else if (constants[i]) {
        inputs_.push_back(constants[i]);
      } else {
        const TensorDesc& desc = inputs[i].tensor;
        inputs_.push_back(&values_.emplace_back(Tensor::zeros(desc.dtype, desc.shape)));
      }
    }
  }

  /// Seconds of the shortest of a few runs.
  double run() {
    std::vector<Value> outputs(node_.outputs.size());
    std::vector<Value*> wanted;
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      wanted.push_back(node_.has_output(k) ? &outputs[k] : nullptr);
    }
    NodeServices services(state_, node_);
    OpContext context;
    context.inputs = inputs_;
    context.outputs = wanted;
    context.run_services = &services;
    context.context_node = &node_;
    DynamicOperator op(state_, state_.make(node_), Mode::inference);
    op.forward(context);  // plans, and warms up
    double shortest = std::numeric_limits<double>::infinity();
    const double deadline = now_seconds() + kMostSeconds;
    for (int i = 0; i < kMostRuns && (i == 0 || now_seconds() < deadline); ++i) {
      const double begin = now_seconds();
      op.forward(context);
      shortest = std::min(shortest, now_seconds() - begin);
    }
    return shortest;
  }

 private:
  const onnx::Node& node_;
  RunState state_;
  std::deque<Value> values_;
  std::vector<const Value*> inputs_;
};

}  // namespace

std::unique_ptr<Operator> fastest_operator(const onnx::Node& node,
                                           std::span<const ValueDesc> inputs,
                                           std::span<const Value* const> constants,
                                           std::span<const OperatorRegistry* const> candidates) {
  const OperatorRegistry* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const OperatorRegistry* candidate : candidates) {
    if (!candidate->supports(node)) continue;
    try {
      const double seconds = Trial(node, inputs, constants, *candidate).run();
      if (seconds < least) least = seconds, best = candidate;
    } catch (const std::exception&) {
      // It could not be tried on zeros, or does not do this case; another may.
    }
  }
  return best ? best->make(node) : nullptr;
}

}  // namespace d5
