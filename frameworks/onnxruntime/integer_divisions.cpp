// SPDX-License-Identifier: Apache-2.0
#include "integer_divisions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <ranges>
#include <string_view>
#include <type_traits>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/tensor.hpp"
#include "d5/onnx/file.hpp"
#include "d5/onnx/visitor.hpp"

namespace d5::onnxruntime {
namespace {

template <class T>
bool holds(const Tensor* tensor, T number) {
  return tensor && std::ranges::find(tensor->span<T>(), number) != tensor->span<T>().end();
}

/// `dividend` is null if it is unknown.
bool is_defined(const Tensor* dividend, const Tensor& divisor) {
  bool defined = true;
  dispatch(IntegerTypes{}, divisor.dtype(), "divisor", [&]<class T>() {
    if (holds(&divisor, T(0))) defined = false;
    if constexpr (std::is_signed_v<T>) {
      const bool overflows = !dividend || holds(dividend, std::numeric_limits<T>::min());
      if (overflows && holds(&divisor, T(-1))) defined = false;
    }
  });
  return defined;
}

void expect_defined_in(const std::string& who, const Tensor* dividend, const Tensor& divisor) {
  if (is_defined(dividend, divisor)) return;
  throw Unsupported(
      fmt::format("{}: ONNX Runtime does not divide integers by 0, nor the smallest by -1", who));
}

/// Known values of nested graphs, the innermost last.
class Scopes {
 public:
  explicit Scopes(const onnx::Model& model) : model_(model) {}

  void enter(const onnx::Graph& graph) { graphs_.push_back(&graph); }
  void leave() { graphs_.pop_back(); }
  [[nodiscard]] bool is_outermost() const { return graphs_.size() == 1; }

  [[nodiscard]] const Tensor* constant(const std::string& name) const {
    for (const onnx::Graph* graph : graphs_ | std::views::reverse) {
      const auto initializer = graph->initializers.find(name);
      if (initializer != graph->initializers.end()) return &initializer->second;
      const onnx::Node* writer = writer_in(*graph, name);
      if (!writer) continue;
      return writer->op_type == "Constant" ? writer->attribute<Tensor>("value") : nullptr;
    }
    return nullptr;
  }

  /// Whether the values are certainly floating-point.
  [[nodiscard]] bool is_real(const std::string& name) {
    if (!types_) types_ = onnx::types_of(model_);
    std::string place = name;
    for (int steps = 0; steps < kMostSteps; ++steps) {
      if (const Tensor* known = constant(place)) return is_floating_point(known->dtype());
      if (const auto type = types_->find(place); type != types_->end()) {
        if (type->second.dtype != DType::undefined) return is_floating_point(type->second.dtype);
      }
      const onnx::Node* writer = nullptr;
      for (const onnx::Graph* graph : graphs_ | std::views::reverse) {
        const auto input = std::ranges::find(graph->inputs, place, &onnx::ValueInfo::name);
        if (input != graph->inputs.end()) return is_floating_point(input->type.dtype);
        if ((writer = writer_in(*graph, place))) break;
      }
      if (!writer || !keeps_type(*writer)) return false;
      place = writer->inputs.front();
    }
    return false;
  }

 private:
  static constexpr int kMostSteps = 100;

  static const onnx::Node* writer_in(const onnx::Graph& graph, const std::string& name) {
    const auto writes = [&](const onnx::Node& node) {
      return std::ranges::find(node.outputs, name) != node.outputs.end();
    };
    const auto writer = std::ranges::find_if(graph.nodes, writes);
    return writer == graph.nodes.end() ? nullptr : &*writer;
  }
  /// Whether the output has the type of the first input.
  static bool keeps_type(const onnx::Node& node) {
    constexpr std::string_view kNames[] = {
        "Add",     "Conv", "Div",     "Exp",        "Expand",  "Gather",    "Gemm",    "Identity",
        "MatMul",  "Mul",  "Reshape", "ReduceMean", "Sigmoid", "Slice",     "Softmax", "Sqrt",
        "Squeeze", "Sub",  "Tanh",    "Transpose",  "Relu",    "ReduceSum", "Concat",  "Unsqueeze"};
    return node.domain.empty() && node.has_input(0) &&
           std::ranges::find(kNames, node.op_type) != std::end(kNames);
  }

  const onnx::Model& model_;
  std::vector<const onnx::Graph*> graphs_;
  std::optional<std::map<std::string, onnx::Type, std::less<>>> types_;
};

}  // namespace

IntegerDivisions::IntegerDivisions(const onnx::Model& model) {
  const onnx::Graph& graph = model.graph;
  Scopes scopes(model);
  onnx::Visitor visitor;
  const auto operand = [&](const std::string& name) -> Operand {
    const auto input = std::ranges::find(graph.inputs, name, &onnx::ValueInfo::name);
    if (scopes.is_outermost() && input != graph.inputs.end()) {
      return std::size_t(input - graph.inputs.begin());
    }
    if (const Tensor* constant = scopes.constant(name)) return *constant;
    return {};
  };
  visitor.on_enter([&](const onnx::Graph& entered) { scopes.enter(entered); });
  visitor.on_leave([&](const onnx::Graph&) { scopes.leave(); });
  visitor.otherwise([&](const onnx::Node& node) {
    const bool divides = node.op_type == "Div" || node.op_type == "Mod";
    if (!node.domain.empty() || !divides || !node.has_input(0) || !node.has_input(1)) return;
    const Operand dividend = operand(node.inputs[0]), divisor = operand(node.inputs[1]);
    const std::string who = onnx::describe(node);
    if (const auto* constant = std::get_if<Tensor>(&divisor)) {
      const bool later = std::holds_alternative<std::size_t>(dividend);
      if (is_integer(constant->dtype()) && !later) {
        expect_defined_in(who, std::get_if<Tensor>(&dividend), *constant);
      }
    } else if (std::holds_alternative<std::monostate>(divisor)) {
      if (scopes.is_real(node.inputs[1]) || scopes.is_real(node.inputs[0])) return;
      throw Unsupported(
          fmt::format("{}: its divisor '{}' is computed in the network, and ONNX Runtime crashes "
                      "the process on an integer division by 0",
                      who, printable(node.inputs[1])));
    }
    divisions_.push_back({who, dividend, divisor});
  });
  visitor.visit(graph);
}

void IntegerDivisions::expect_defined(std::span<const Value* const> inputs) const {
  const auto tensor_of = [&](const Operand& operand) -> const Tensor* {
    if (const auto* place = std::get_if<std::size_t>(&operand)) return &inputs[*place]->tensor();
    return std::get_if<Tensor>(&operand);
  };
  for (const auto& [who, dividend, divisor] : divisions_) {
    const Tensor& by = *tensor_of(divisor);
    if (is_integer(by.dtype())) expect_defined_in(who, tensor_of(dividend), by);
  }
}

}  // namespace d5::onnxruntime
