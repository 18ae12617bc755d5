// SPDX-License-Identifier: Apache-2.0
#include "fuzz/node_runs.hpp"

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/level0_ops/run/operator_runner.hpp"

namespace d5::fuzz {
namespace {

bool is_real(const Value& value) {
  return value.is_tensor() && is_floating_point(value.tensor().dtype());
}

Tensor ones_like(const Tensor& tensor) {
  Tensor ones = Tensor::empty(tensor.desc());
  dispatch(FloatTypes{}, ones.dtype(), "ones", [&]<class T>() {
    for (T& element : ones.span<T>()) element = T(1.0f);
  });
  return ones;
}

/// Runs backward, if an input has a gradient and an output is real.
void run_backward(const OperatorRegistry& registry, const OperatorCase& op_case) {
  OperatorRunner runner(registry, op_case.node, op_case.inputs, Mode::training, Guard::on);
  bool has_gradient = false, has_direction = false;
  for (std::size_t i = 0; i < op_case.inputs.size(); ++i) {
    has_gradient = has_gradient || runner.grad_input(i).defined();
  }
  if (!has_gradient) return;
  runner.forward();
  std::vector<Tensor> directions(runner.output_count());
  for (std::size_t k = 0; k < directions.size(); ++k) {
    if (!is_real(runner.output(k))) continue;
    directions[k] = ones_like(runner.output(k).tensor());
    has_direction = true;
  }
  if (has_direction) runner.backward(directions);
}

/// A network of one node: inputs are declared with their types, and half of them with their shapes.
Network network_of(const OperatorCase& op_case, ValueMap& fed) {
  onnx::Model model;
  model.ir_version = 10;
  model.opset_imports[op_case.node.domain] = op_case.node.opset;
  onnx::Graph& graph = model.graph;
  graph.name = "node";
  graph.nodes = {op_case.node};
  RandomStream random(stream_of(op_case.line));
  for (std::size_t i = 0; i < op_case.inputs.size(); ++i) {
    if (!op_case.node.has_input(i)) continue;
    const std::string& name = op_case.node.inputs[i];
    const Tensor& tensor = op_case.inputs[i].tensor();
    if (random.below(4) == 0) {
      graph.initializers[name] = tensor;
      continue;
    }
    onnx::Type type;
    type.kind = ValueKind::tensor;
    type.dtype = tensor.dtype();
    type.has_shape = random.below(2) == 0;
    if (type.has_shape) type.dims.assign(tensor.shape().begin(), tensor.shape().end());
    graph.inputs.push_back({name, type});
    fed[name] = tensor;
  }
  for (const auto& name : op_case.node.outputs) graph.outputs.push_back({name, {}});
  return Network(std::move(model));
}

}  // namespace

Outcome run_alone(const OperatorCase& op_case, const std::string& framework) {
  const auto& registry = d5::framework(framework).part<OperatorRegistry>();
  (void)outcome_of([&] {
    run_backward(registry, op_case);
    return Outcome{};
  });
  return outcome_of([&] {
    OperatorRunner runner(registry, op_case.node, op_case.inputs, Mode::inference, Guard::on);
    return twice({op_case.node}, [&] {
      runner.forward();
      std::vector<Value> outputs;
      for (std::size_t k = 0; k < runner.output_count(); ++k) outputs.push_back(runner.output(k));
      return outputs;
    });
  });
}

Outcome run_in_network(const OperatorCase& op_case, const std::string& framework) {
  return outcome_of([&] {
    ValueMap fed;
    Network network = network_of(op_case, fed);
    return twice(*make_executor(std::move(network), {.frameworks = {framework}}), fed);
  });
}

Outcome run_by_own_executor(const OperatorCase& op_case, const std::string& framework) {
  return outcome_of([&] {
    ValueMap fed;
    Network network = network_of(op_case, fed);
    return twice(*own_executor(framework, std::move(network)), fed);
  });
}

}  // namespace d5::fuzz
