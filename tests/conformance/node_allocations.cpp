// SPDX-License-Identifier: Apache-2.0
#include "conformance/node_allocations.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include "conformance/heap_watch.hpp"
#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/run/operator_runner.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level1_network/source/models.hpp"
#include "d5/onnx/file.hpp"
#include "d5/onnx/visitor.hpp"

namespace d5::conformance {
namespace {

using Values = std::map<std::string, Value, std::less<>>;

bool is_asked(const Value& value) {
  return value.is_tensor() && value.tensor().dtype() != DType::string;
}

/// Adds what `run` allocates to `all`.
template <class F>
void watch(const std::string& op_type, const char* pass, Allocations& all, F&& run) {
  HeapWatch heap;
  run();
  heap.stop();
  ++all.watched;
  if (heap.count() > 0) all.found.push_back({op_type, pass, heap.first()});
}

std::vector<Value> inputs_of(const onnx::Node& node, const Values& values) {
  std::vector<Value> result;
  for (const auto& name : node.inputs) result.push_back(name.empty() ? Value() : values.at(name));
  return result;
}

/// Zeros for every real output.
std::vector<Tensor> gradients_of(const OperatorRunner& runner) {
  std::vector<Tensor> result;
  for (std::size_t k = 0; k < runner.output_count(); ++k) {
    Tensor& gradient = result.emplace_back();
    const Value& output = runner.output(k);
    if (!output.is_tensor() || !is_floating_point(output.tensor().dtype())) continue;
    gradient = Tensor::zeros(output.tensor().dtype(), output.tensor().shape());
  }
  return result;
}

void run_backward(const onnx::Node& node, const Values& values, const OperatorRegistry& registry,
                  Allocations& all) {
  try {
    OperatorRunner runner(registry, node, inputs_of(node, values), Mode::training);
    if (runner.op().gradients().empty()) return;
    runner.forward();
    const std::vector<Tensor> gradients = gradients_of(runner);
    if (std::none_of(gradients.begin(), gradients.end(),
                     [](const Tensor& gradient) { return gradient.defined(); })) {
      return;  // no gradient ever arrives at integers
    }
    runner.backward(gradients);
    watch(node.op_type, "forward in training", all, [&] { runner.forward(); });
    watch(node.op_type, "backward", all, [&] { runner.backward(gradients); });
  } catch (const Unsupported&) {
    // It has no gradient, or none for these types.
  }
}

/// Runs the node, and defines its outputs. False if there are none to go on with.
bool run_node(const onnx::Node& node, Values& values, const OperatorRegistry& registry,
              Allocations& all) {
  if (!onnx::subgraphs(node).empty()) return false;
  const auto inputs = inputs_of(node, values);
  OperatorRunner runner(registry, node, inputs);
  bool asked = std::all_of(inputs.begin(), inputs.end(), [](const Value& value) {
    return value.kind() == ValueKind::none || is_asked(value);
  });
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    // Outputs that the plan leaves open are known only at run time.
    asked = asked && (!node.has_output(k) || is_asked(runner.output(k)));
  }
  runner.forward();
  if (asked) {
    watch(node.op_type, "forward", all, [&] { runner.forward(); });
    run_backward(node, values, registry, all);
  }
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    if (node.has_output(k)) values[node.outputs[k]] = runner.output(k);
  }
  return true;
}

}  // namespace

Allocations node_allocations(const std::string& path, const std::string& framework) {
  Allocations all;
  const auto folder = onnx::open_test_folder(path);
  const onnx::Model model = onnx::load(folder.model_path);
  const auto& registry = d5::framework(framework).part<OperatorRegistry>();
  Values values(model.graph.initializers.begin(), model.graph.initializers.end());
  std::size_t next = 0;
  for (const auto& input : model.graph.inputs) {
    const auto& files = folder.data_sets.at(0).inputs;
    if (values.contains(input.name) || next == files.size()) continue;
    values[input.name] = onnx::load_value(files[next++], input.type);
  }
  try {
    for (const auto& node : model.graph.nodes) {
      if (!run_node(node, values, registry, all)) break;
    }
  } catch (const Unsupported&) {
    // The case ends at a node that the framework does not have.
  }
  return all;
}

Allocations network_allocations(const std::string& model, const std::string& framework) {
  Allocations all;
  const auto executor =
      make_executor(models().at(model).make({{"seed", 1}, {"with_loss", true}, {"training", true}}),
                    {.frameworks = {framework, "reference"}});
  ValueMap inputs;
  for (const auto& input : executor->network().graph().inputs) {
    if (executor->network().graph().initializers.contains(input.name)) continue;
    Shape shape;
    for (const auto& dim : input.type.dims) {
      const auto* size = std::get_if<std::int64_t>(&dim);
      shape.push_back(size ? *size : 1);  // a name stands for the batch
    }
    inputs[input.name] = Tensor::zeros(input.type.dtype, shape);
  }
  for (int run = 0; run < 2; ++run) {
    (void)executor->inference(inputs);
    (void)executor->inference_and_backprop(inputs, "loss");
  }
  watch(model, "forward", all, [&] { (void)executor->inference(inputs); });
  watch(model, "forward and backward", all,
        [&] { (void)executor->inference_and_backprop(inputs, "loss"); });
  return all;
}

}  // namespace d5::conformance
