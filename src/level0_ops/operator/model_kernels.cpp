// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/operator/model_kernels.hpp"

#include <deque>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/onnx/visitor.hpp"
#include "level0_ops/operator/drawn_values.hpp"
#include "level0_ops/operator/node_model.hpp"

namespace d5 {
namespace {

class ModelKernel final : public Kernel {
 public:
  ModelKernel(const PlanContext& context, const ModelCompiler& compile)
      : node_(detail::node_model(context)), compile_(compile) {
    inputs_.resize(node_.inputs.size());
    outputs_.resize(node_.outputs.size());
    open_.resize(node_.outputs.size());
    make();
  }

  void forward(OpContext& context) override {
    if (threads_ != threads()) make();
    for (std::size_t i = 0; i < inputs_.size(); ++i) inputs_[i] = context.inputs[node_.inputs[i]];
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
      const std::size_t place = node_.outputs[k];
      outputs_[k] = context.planned_outputs.contains(place) ? context.outputs[place] : &open_[k];
    }
    model_->run(inputs_, outputs_);
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
      if (outputs_[k] != &open_[k]) continue;
      context.set_output(node_.outputs[k], std::exchange(open_[k], {}));
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {}};
  }

 private:
  void make() {
    threads_ = threads();
    model_ = compile_(node_.model, {.threads = threads_});
  }

  detail::NodeModel node_;
  ModelCompiler compile_;
  int threads_ = 0;
  std::unique_ptr<CompiledModel> model_;
  std::vector<const Value*> inputs_;
  std::vector<Value*> outputs_;
  std::deque<Value> open_;  ///< outputs whose sizes are known only at run time
};

Support can_be_a_model(const PlanContext& context) {
  if (context.wants_backward()) return {"gradients"};
  if (context.mode() == Mode::training) return {"training"};
  if (draws_random_numbers(context.node())) return {"random numbers of a given seed"};
  for (const auto& [name, graph] : onnx::subgraphs(context.node())) {
    const auto captured = onnx::captured_names(*graph);
    if (captured.empty()) continue;
    return {"a node alone whose graph reads '" + printable(captured.front()) + "' from outside"};
  }
  return {};
}

/// The reason of the first unsupported value of the node.
Support can_be_passed(const PlanContext& context, const ValueRefusal& refusal) {
  std::string reason;
  for (std::size_t i = 0; i < context.input_count() && reason.empty(); ++i) {
    if (context.has_input(i)) reason = refusal(context.value(i));
  }
  for (std::size_t k = 0; k < context.output_count() && reason.empty(); ++k) {
    const ValueDesc& desc = context.output_value(k);  // kind none: known only at run time
    if (context.wants_output(k) && desc.kind != ValueKind::none) reason = refusal(desc);
  }
  return {reason};
}

}  // namespace

void add_model_kernels(OperatorRegistry& registry, ModelCompiler compile, ValueRefusal refusal) {
  const auto plan = [compile = std::move(compile)](PlanContext& context) {
    return std::make_unique<ModelKernel>(context, compile);
  };
  const auto check = [refusal = std::move(refusal)](const PlanContext& context) {
    const Support support = can_be_a_model(context);
    return support ? can_be_passed(context, refusal) : support;
  };
  for (const auto& known : framework("reference").part<OperatorRegistry>().list()) {
    registry.add_kernel(known.name,
                        {.since = known.since, .until = known.until, .domain = known.domain}, plan,
                        check);
  }
}

}  // namespace d5
