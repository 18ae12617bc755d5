// SPDX-License-Identifier: Apache-2.0
#include "fuzz/node_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "d5/core/error.hpp"
#include "d5/core/framework.hpp"
#include "d5/core/random.hpp"
#include "d5/level0_ops/operator_runner.hpp"
#include "d5/level0_ops/operator_validation.hpp"
#include "d5/level1_network/graph_executor.hpp"

namespace d5::fuzz {
namespace {

constexpr ForwardTolerance kExact{.relative = 0, .absolute = 0};

/// Two frameworks draw other numbers, and so do two runs.
bool is_random(const onnx::Node& node) {
  constexpr std::array<std::string_view, 7> kRandom = {
      "Bernoulli",     "Dropout",           "Multinomial",     "RandomNormal",
      "RandomUniform", "RandomUniformLike", "RandomNormalLike"};
  return std::ranges::find(kRandom, node.op_type) != kRandom.end();
}

/// Rounding of an element type, in sums of some dozen products, relative to a tensor's largest
/// element: other orders of the same sums, and functions that are right to a few ulps.
double rounding(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return 1e-10;
    case DType::float32:
      return 1e-4;
    case DType::float16:
      return 2e-2;
    case DType::bfloat16:
      return 2e-1;
    default:
      return 0;
  }
}

/// At least 1: a result of 0 may be a difference of numbers of size 1.
double largest(const Tensor& tensor) {
  double result = 1;
  if (!is_floating_point(tensor.dtype())) return result;
  dispatch(FloatTypes{}, tensor.dtype(), "largest", [&]<class T>() {
    for (const T& element : tensor.span<T>()) {
      const double magnitude = std::fabs(double(Arithmetic<T>(element)));
      if (std::isfinite(magnitude)) result = std::max(result, magnitude);
    }
  });
  return result;
}

Value copy_of(const Value& value) {
  return value.is_tensor() && value.tensor().defined() ? Value(value.tensor().copy()) : value;
}

template <class Run>
Outcome outcome_of(Run&& run) {
  const auto refused = [](const Error& error, bool beyond) {
    return Outcome{.error = error.what(), .beyond = beyond};
  };
  try {
    return run();
  } catch (const ContractError&) {
    throw;
  } catch (const Unsupported& error) {
    return refused(error, true);
  } catch (const MemoryError& error) {
    return refused(error, true);
  } catch (const Error& error) {
    return refused(error, false);
  }
}

/// Notes in `outcome` where `again` differs from its outputs.
void compare_runs(Outcome& outcome, const std::vector<Value>& again) {
  for (std::size_t k = 0; k < again.size() && outcome.unstable.empty(); ++k) {
    const Difference found = compare_values(again[k], outcome.outputs[k], kExact);
    if (!found.equal)
      outcome.unstable = fmt::format("output {} of the second run: {}", k, found.where);
  }
}

std::vector<Value> outputs_of(const OperatorRunner& runner) {
  std::vector<Value> outputs;
  for (std::size_t k = 0; k < runner.output_count(); ++k)
    outputs.push_back(copy_of(runner.output(k)));
  return outputs;
}

/// Gradients of ones.
void run_backward(const OperatorRegistry& registry, const OperatorCase& op_case) {
  OperatorRunner runner(registry, op_case.node, op_case.inputs, Mode::training, Guard::on);
  bool has_gradient = false;
  for (std::size_t i = 0; i < op_case.inputs.size(); ++i) {
    has_gradient = has_gradient || runner.grad_input(i).defined();
  }
  if (!has_gradient) return;
  runner.forward();
  std::vector<Tensor> ones;
  for (std::size_t k = 0; k < runner.output_count(); ++k) {
    const Value& output = runner.output(k);
    const bool real = output.is_tensor() && is_floating_point(output.tensor().dtype());
    Tensor& gradient = ones.emplace_back(real ? Tensor::empty(output.tensor().desc()) : Tensor());
    if (!real) continue;
    dispatch(FloatTypes{}, gradient.dtype(), "ones", [&]<class T>() {
      for (T& element : gradient.span<T>()) element = T(1.0f);
    });
  }
  runner.backward(ones);
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
    onnx::Type type{.kind = ValueKind::tensor, .dtype = tensor.dtype()};
    type.has_shape = random.below(2) == 0;
    if (type.has_shape) type.dims.assign(tensor.shape().begin(), tensor.shape().end());
    graph.inputs.push_back({name, type});
    fed[name] = tensor;
  }
  for (const auto& name : op_case.node.outputs) graph.outputs.push_back({name, {}});
  return Network(std::move(model));
}

std::vector<Value> outputs_of(GraphExecutor& executor, const ValueMap& fed,
                              const onnx::Node& node) {
  const ValueMap& values = executor.inference(fed);
  std::vector<Value> outputs;
  for (const auto& name : node.outputs) outputs.push_back(copy_of(values.at(name)));
  return outputs;
}

Outcome run_twice(GraphExecutor& executor, const ValueMap& fed, const onnx::Node& node) {
  Outcome outcome{.outputs = outputs_of(executor, fed, node)};
  const auto again = outputs_of(executor, fed, node);
  if (!is_random(node)) compare_runs(outcome, again);
  return outcome;
}

}  // namespace

const std::vector<std::string>& frameworks_under_test() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const auto& info : d5::frameworks()) {
      if (info.name == "reference") continue;
      (void)d5::framework(info.name);
      result.push_back(info.name);
    }
    return result;
  }();
  return names;
}

Outcome run_alone(const OperatorCase& op_case, const std::string& framework) {
  const auto& registry = d5::framework(framework).part<OperatorRegistry>();
  Outcome outcome = outcome_of([&] {
    OperatorRunner runner(registry, op_case.node, op_case.inputs, Mode::inference, Guard::on);
    runner.forward();
    Outcome result{.outputs = outputs_of(runner)};
    runner.forward();
    compare_runs(result, outputs_of(runner));
    return result;
  });
  (void)outcome_of([&] {
    run_backward(registry, op_case);
    return Outcome{};
  });
  return outcome;
}

Outcome run_in_network(const OperatorCase& op_case, const std::string& framework) {
  return outcome_of([&] {
    ValueMap fed;
    Network network = network_of(op_case, fed);
    const auto executor = make_executor(std::move(network), {.frameworks = {framework}});
    return run_twice(*executor, fed, op_case.node);
  });
}

Outcome run_by_own_executor(const OperatorCase& op_case, const std::string& framework) {
  return outcome_of([&] {
    ValueMap fed;
    Network network = network_of(op_case, fed);
    const auto& executors = d5::framework(framework).part<ExecutorRegistry>();
    const ExecutorEntry* own = executors.find(framework);
    if (!own) throw Unsupported(framework + " has no executor");
    const auto executor = own->make(std::move(network), ExecutorOptions{});
    return run_twice(*executor, fed, op_case.node);
  });
}

std::string difference(const Outcome& expected, const Outcome& got, const OperatorCase& op_case,
                       const std::string& who) {
  if (!got.unstable.empty()) return fmt::format("{}: {}", who, got.unstable);
  if (!expected.unstable.empty()) return "the reference: " + expected.unstable;
  if (got.beyond || expected.beyond) return {};
  if (got.error.empty() != expected.error.empty()) {
    return got.error.empty()
               ? fmt::format("{} runs what the reference refuses: {}", who, expected.error)
               : fmt::format("{} refuses what the reference runs: {}", who, got.error);
  }
  if (!got.error.empty() || is_random(op_case.node)) return {};
  for (std::size_t k = 0; k < expected.outputs.size(); ++k) {
    const Value& output = expected.outputs[k];
    if (!op_case.node.has_output(k)) continue;
    double bound = 0;
    if (output.is_tensor()) bound = rounding(output.tensor().dtype()) * largest(output.tensor());
    const Difference found =
        compare_values(got.outputs[k], output, {.relative = 0, .absolute = bound});
    if (!found.equal) return fmt::format("{}, output {}: {}", who, k, found.where);
  }
  return {};
}

}  // namespace d5::fuzz
