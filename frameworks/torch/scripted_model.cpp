// SPDX-License-Identifier: Apache-2.0
#include "scripted_model.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/record_function.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/passes/subgraph_rewrite.h>

#include <algorithm>

#include "call_spans.hpp"
#include "compiled_network.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "tensor_view.hpp"
#include "torch_kernel.hpp"

namespace d5::torch {
namespace {

namespace jit = ::torch::jit;

/// Detects, while it lives, whether a run reads a number from a computed tensor: a graph would
/// contain the number of this run.
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

[[noreturn]] void refuse(const onnx::Model& model, const std::string& why) {
  throw Unsupported("torch:script: network '" + printable(model.graph.name) + "' " + why +
                    ", which a recorded run cannot hold; torch:torch runs it");
}

/// Rewrites kernels' calls to the forms of torch's modules, which its passes over frozen graphs
/// recognise: they fold batch normalizations into convolutions, reorder filters once, and keep
/// MKL-DNN's layout between nodes.
void say_as_modules(std::shared_ptr<jit::Graph>& graph) {
  jit::SubgraphRewriter rewriter;
  rewriter.RegisterRewritePattern(R"(
    graph(%x, %w, %b, %strides, %pads, %dilations, %transposed, %more, %groups):
      %y = aten::convolution(%x, %w, %b, %strides, %pads, %dilations, %transposed, %more, %groups)
      return (%y))",
                                  R"(
    graph(%x, %w, %b, %strides, %pads, %dilations, %transposed, %more, %groups):
      %no : bool = prim::Constant[value=0]()
      %yes : bool = prim::Constant[value=1]()
      %y = aten::_convolution(%x, %w, %b, %strides, %pads, %dilations, %transposed, %more, %groups,
                              %no, %no, %yes, %yes)
      return (%y))");
  // Replaces nodes whose further outputs, statistics or indices, have no reader; others stay.
  rewriter.RegisterRewritePattern(R"(
    graph(%x, %scale, %shift, %mean, %variance, %trains, %momentum, %epsilon):
      %y, %m, %v = aten::native_batch_norm(%x, %scale, %shift, %mean, %variance, %trains, %momentum,
                                           %epsilon)
      return (%y))",
                                  R"(
    graph(%x, %scale, %shift, %mean, %variance, %trains, %momentum, %epsilon):
      %no : bool = prim::Constant[value=0]()
      %y = aten::batch_norm(%x, %scale, %shift, %mean, %variance, %trains, %momentum, %epsilon, %no)
      return (%y))");
  rewriter.RegisterRewritePattern(R"(
    graph(%x, %kernel, %strides, %pads, %dilations, %ceil):
      %y, %places = aten::max_pool2d_with_indices(%x, %kernel, %strides, %pads, %dilations, %ceil)
      return (%y))",
                                  R"(
    graph(%x, %kernel, %strides, %pads, %dilations, %ceil):
      %y = aten::max_pool2d(%x, %kernel, %strides, %pads, %dilations, %ceil)
      return (%y))");
  rewriter.runOnGraph(graph);
}

class ScriptedModel final : public CompiledModel {
 public:
  ScriptedModel(const onnx::Model& model, const OperatorRegistry& operators) : network_(model) {
    const ExecutorOptions options{.parameter_gradients = false};
    CompiledNetwork compiled(network_, NetworkMode::as_written, options, operators,
                             [](std::size_t) {});
    const ValueMap inputs = random_inputs(network_, {});
    compiled.feed(network_, inputs);
    const at::NoGradGuard without_autograd;
    jit::Stack given;
    for (const auto& input : model.graph.inputs)
      given.push_back(wrap(inputs.at(input.name).tensor()));
    const auto run = [&](const jit::Stack& values) { return run_once(compiled, model, values); };
    (void)run(given);  // plans every node
    if (!compiled.shapes_are_known()) refuse(model, "has data-dependent shapes");
    jit::Module recorded("network");
    const ReadNumbers numbers;
    const auto [state, results] = jit::tracer::trace(
        given, run, [](const at::Tensor&) { return std::string(); }, /*strict=*/true,
        /*force_outplace=*/false, &recorded);
    if (numbers.any()) refuse(model, "reads numbers from tensors to choose what it calls");
    say_as_modules(state->graph);
    auto* forward = recorded._ivalue()->compilation_unit()->create_function(
        c10::QualifiedName(*recorded.type()->name(), "forward"), state->graph);
    recorded.type()->addMethod(forward);
    recorded.eval();
    freeze(recorded, given);
  }

  void run(std::span<const Value* const> inputs, std::span<Value* const> outputs) override {
    CallSpans::follow_trace();
    const at::NoGradGuard without_autograd;
    try {
      std::vector<c10::IValue> given;
      for (const Value* input : inputs) given.emplace_back(wrap(input->tensor()));
      const auto results = module_.forward(std::move(given)).toTuple();
      for (std::size_t k = 0; k < outputs.size(); ++k) {
        const at::Tensor& result = results->elements()[k].toTensor();
        if (outputs[k]->is_tensor()) {
          wrap(outputs[k]->tensor()).copy_(result);
        } else {
          *outputs[k] = share(result);
        }
      }
    } catch (...) {
      rethrow("torch:script");
    }
  }

 private:
  /// Runs the network on the tracer's inputs.
  static jit::Stack run_once(CompiledNetwork& compiled, const onnx::Model& model,
                             const jit::Stack& given) {
    for (std::size_t i = 0; i < given.size(); ++i) {
      compiled.hold(model.graph.inputs[i].name, given[i].toTensor());
    }
    const bool never = false;
    (void)compiled.run({}, {{}, never}, nullptr);
    std::vector<c10::IValue> results;
    for (const auto& output : model.graph.outputs) {
      results.emplace_back(compiled.output(output.name));
    }
    return {c10::ivalue::Tuple::create(std::move(results))};
  }

  /// Optimizes the graph if it then runs: in some graphs torch leaves a weight in MKL-DNN's layout
  /// beside an input that is not. The second run is the first steady-state one.
  void freeze(const jit::Module& recorded, const jit::Stack& given) {
    const jit::Module frozen = jit::freeze(recorded);
    try {
      jit::Module copy = frozen.clone();
      module_ = jit::optimize_for_inference(copy);
      for (int run = 0; run < 2; ++run) (void)module_.forward(given);
    } catch (const std::exception&) {
      module_ = frozen;
    }
  }

  Network network_;  // the graph's constants lie in its memory
  jit::Module module_;
};

}  // namespace

std::unique_ptr<CompiledModel> script(const onnx::Model& model, const ModelTarget& target,
                                      const OperatorRegistry& operators) {
  if (!target.loss.empty()) {
    throw Unsupported(
        "torch:script runs frozen networks, which have no gradients; torch and torch:torch have "
        "gradients");
  }
  try {
    return std::make_unique<ScriptedModel>(model, operators);
  } catch (...) {
    rethrow("torch:script");
  }
}

}  // namespace d5::torch
