// SPDX-License-Identifier: Apache-2.0
#include "scripted_network.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/record_function.h>
#include <torch/csrc/jit/frontend/tracer.h>

#include <algorithm>

#include "compiled_network.hpp"
#include "d5/core/error.hpp"
#include "tensor_view.hpp"
#include "torch_kernel.hpp"

namespace d5::torch {
namespace {

namespace jit = ::torch::jit;

/// While it lives, notes whether a run reads a number out of a tensor that it computed: a graph
/// would hold the number of this run.
class ReadNumbers {
 public:
  ReadNumbers() : handle_(at::addThreadLocalCallback(callback())) { any_ = false; }
  ~ReadNumbers() { at::removeCallback(handle_); }
  ReadNumbers(const ReadNumbers&) = delete;
  ReadNumbers& operator=(const ReadNumbers&) = delete;

  [[nodiscard]] bool any() const { return any_; }

 private:
  static at::RecordFunctionCallback callback() {
    return at::RecordFunctionCallback(note).needsInputs(true).scopes({at::RecordScope::FUNCTION});
  }
  static std::unique_ptr<at::ObserverContext> note(const at::RecordFunction& function) {
    if (std::string_view(function.name()) != "aten::_local_scalar_dense") return nullptr;
    const auto& state = jit::tracer::getTracingState();
    any_ = any_ || !state || state->hasValue(function.inputs().at(0));
    return nullptr;
  }

  at::CallbackHandle handle_;
  inline static thread_local bool any_ = false;
};

/// One run of `compiled` on what the tracer hands it.
jit::Stack run_once(CompiledNetwork& compiled, const std::vector<std::string>& outputs,
                    const std::vector<std::pair<std::string, TensorDesc>>& inputs,
                    const jit::Stack& given) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    compiled.hold(inputs[i].first, given[i].toTensor());
  }
  static const std::vector<ExecutionEvent*> nobody;
  const bool never = false;
  (void)compiled.run({}, {nobody, never}, nullptr);
  std::vector<at::Tensor> results;
  for (const auto& name : outputs) results.push_back(compiled.output(name));
  return {c10::ivalue::Tuple::create(std::vector<c10::IValue>(results.begin(), results.end()))};
}

[[noreturn]] void refuse(const Network& network, const std::string& why) {
  throw Unsupported("torch:script: network '" + printable(network.name()) + "' " + why +
                    ", which a recorded run cannot hold; torch:torch runs it");
}

}  // namespace

ScriptedNetwork::ScriptedNetwork(Network& network, NetworkMode mode, const ExecutorOptions& options,
                                 const OperatorRegistry& operators, const ValueMap& inputs)
    : outputs_(network.output_names()), module_("network") {
  ExecutorOptions forward_only = options;
  forward_only.gradients.clear();
  forward_only.parameter_gradients = false;
  CompiledNetwork compiled(network, mode, forward_only, operators, [](std::size_t) {});
  if (compiled.updates_constants()) refuse(network, "updates constants in this mode");
  compiled.feed(network, inputs);
  const at::NoGradGuard without_autograd;
  jit::Stack given;
  for (const auto& [name, value] : inputs) {
    inputs_.emplace_back(name, value.tensor().desc());
    given.emplace_back(wrap(value.tensor()));
  }
  (void)run_once(compiled, outputs_, inputs_, given);  // plans every node
  if (!compiled.shapes_are_known()) refuse(network, "has shapes that data decide");
  const ReadNumbers numbers;
  const auto [state, results] = jit::tracer::trace(
      given,
      [&](const jit::Stack& traced) { return run_once(compiled, outputs_, inputs_, traced); },
      [](const at::Tensor&) { return std::string(); }, /*strict=*/true, /*force_outplace=*/false,
      &module_);
  if (numbers.any()) refuse(network, "reads numbers out of tensors to choose what it calls");
  auto* forward = module_._ivalue()->compilation_unit()->create_function(
      c10::QualifiedName(*module_.type()->name(), "forward"), state->graph);
  module_.type()->addMethod(forward);
  module_.eval();
  module_ = jit::freeze(module_);
  module_ = jit::optimize_for_inference(module_);
}

bool ScriptedNetwork::fits(const ValueMap& inputs) const {
  return std::ranges::equal(inputs, inputs_, [](const auto& input, const auto& known) {
    return input.first == known.first && input.second.is_tensor() &&
           input.second.tensor().desc() == known.second;
  });
}

ValueMap ScriptedNetwork::run(const ValueMap& inputs) {
  const at::NoGradGuard without_autograd;
  std::vector<c10::IValue> given;
  for (const auto& [name, value] : inputs) given.emplace_back(wrap(value.tensor()));
  const auto results = module_.forward(std::move(given)).toTuple();
  ValueMap outputs;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    outputs[outputs_[i]] = share(results->elements()[i].toTensor());
  }
  return outputs;
}

}  // namespace d5::torch
