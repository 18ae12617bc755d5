// SPDX-License-Identifier: Apache-2.0
#include "level2_training/losses/parts/loss_reading.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ranges>
#include <set>
#include <vector>

#include "d5/onnx/nodes.hpp"
#include "level1_network/nodes/node_names.hpp"
#include "level1_network/nodes/random_nodes.hpp"
#include "level1_network/nodes/value_descs.hpp"

namespace d5::detail {
namespace {

using Names = std::set<std::string, std::less<>>;
using Is = LossReading::Is;
using By = LossReading::By;

template <std::size_t n>
bool is_one_of(const onnx::Node& node, const std::array<std::string_view, n>& types) {
  return node.domain.empty() && std::ranges::find(types, node.op_type) != types.end();
}

/// Whether the node gives its first input in another shape or type.
bool passes_on(const onnx::Node& node) {
  constexpr std::array<std::string_view, 8> kTypes{
      "Identity", "Cast", "CastLike", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Transpose"};
  return is_one_of(node, kTypes);
}

Names names_behind(const Network& network, const std::string& tensor) {
  Names names{tensor};
  for (const auto& node : std::views::reverse(network.graph().nodes)) {
    if (std::ranges::none_of(node.outputs, [&](const auto& o) { return names.contains(o); })) {
      continue;
    }
    for (auto& name : read_names(node)) names.insert(std::move(name));
  }
  return names;
}

class Reader {
 public:
  explicit Reader(const Network& network) : network_(network) {
    for (const auto& name : network.input_names()) of_batch_.insert(name);
    for (const auto& node : network.graph().nodes) {
      const auto names = read_names(node);
      const auto any = [&](const Names& of, const auto& more) {
        return std::ranges::any_of(
            names, [&](const auto& name) { return of.contains(name) || more(name); });
      };
      const bool pulls = node.domain == "d5";  // data of its own, or other ranks' numbers
      const bool batch = pulls || any(of_batch_, [](const auto&) { return false; });
      const bool learnt = pulls || draws_random_numbers(node) ||
                          any(of_learnt_, [&](const auto& n) { return network.is_parameter(n); });
      for (const auto& output : node.outputs) {
        if (batch) of_batch_.insert(output);
        if (learnt) of_learnt_.insert(output);
      }
    }
  }

  LossReading read(const std::string& tensor) {
    if (!of_batch_.contains(tensor)) return {.is = Is::fixed};
    const onnx::Node* node = network_.producer(tensor);
    if (!node) return other("it is an input of the network");
    if (passes_on(*node) || is_one_of(*node, std::array<std::string_view, 1>{"Neg"})) {
      return read(node->inputs[0]);
    }
    if (is_one_of(*node, std::array<std::string_view, 3>{"Add", "Sub", "Sum"})) return add(*node);
    if (is_one_of(*node, std::array<std::string_view, 1>{"Mul"})) return multiply(*node);
    if (is_one_of(*node, std::array<std::string_view, 1>{"Div"})) return divide(*node);
    if (is_one_of(*node, std::array<std::string_view, 1>{"SoftmaxCrossEntropyLoss"})) {
      return cross_entropy(*node, onnx::nodes::SoftmaxCrossEntropyLoss(*node));
    }
    if (is_one_of(*node, std::array<std::string_view, 1>{"NegativeLogLikelihoodLoss"})) {
      return cross_entropy(*node, onnx::nodes::NegativeLogLikelihoodLoss(*node));
    }
    if (is_one_of(*node, std::array<std::string_view, 1>{"ReduceMean"})) {
      return over({.is = Is::mean, .by = By::elements, .tensor = node->inputs[0]});
    }
    constexpr std::array<std::string_view, 3> kSums{"ReduceSum", "ReduceSumSquare", "ReduceL1"};
    if (is_one_of(*node, kSums)) return over({.is = Is::sum, .tensor = node->inputs[0]});
    constexpr std::array<std::string_view, 5> kCurves{"Sqrt", "Exp", "Log", "Pow", "ReduceL2"};
    LossReading result =
        other(fmt::format("{} is not known to be a sum or a mean", onnx::describe(*node)));
    result.joins = !is_one_of(*node, kCurves);
    return result;
  }

 private:
  static LossReading other(std::string why) { return {.is = Is::other, .why = std::move(why)}; }

  LossReading add(const onnx::Node& node) {
    LossReading result{.is = Is::fixed};
    bool has_fixed = false;
    for (const auto& input : node.inputs) {
      const LossReading term = read(input);
      has_fixed = has_fixed || term.is == Is::fixed;
      if (term.is == Is::fixed || term == result) continue;
      if (result.is == Is::fixed) {
        result = term;
        continue;
      }
      if (result.is == Is::sum && term.is == Is::sum) {
        result = {.is = Is::sum};
        continue;
      }
      if (result.is == Is::other || term.is == Is::other) {
        return result.is == Is::other ? result : term;
      }
      LossReading mixed =
          other(fmt::format("{} adds means over what counts differently", onnx::describe(node)));
      mixed.joins = false;
      return mixed;
    }
    if (result.is != Is::sum || !has_fixed) return result;
    LossReading mixed = other(fmt::format(
        "{} adds a term that is not a sum over the batch to one that is", onnx::describe(node)));
    mixed.joins = false;
    return mixed;
  }

  LossReading multiply(const onnx::Node& node) {
    for (const std::size_t i : {0, 1}) {
      if (!of_batch_.contains(node.inputs[i])) return read(node.inputs[1 - i]);
    }
    return other(fmt::format("{} multiplies two numbers of the batch", onnx::describe(node)));
  }

  LossReading divide(const onnx::Node& node) {
    if (!of_batch_.contains(node.inputs[1])) return read(node.inputs[0]);
    const std::string by = without_floor(node.inputs[1]);
    LossReading result = read(node.inputs[0]);
    if (result.is != Is::sum) {
      return other(
          fmt::format("{} divides a value that is not a sum over the batch", onnx::describe(node)));
    }
    if (of_learnt_.contains(by)) {
      return other(
          fmt::format("{} divides by a value that training changes", onnx::describe(node)));
    }
    return {.is = Is::mean, .by = By::number, .tensor = by};
  }

  /// The divisor without a lower bound that keeps it above zero.
  std::string without_floor(const std::string& tensor) const {
    const onnx::Node* node = network_.producer(tensor);
    constexpr std::array<std::string_view, 3> kFloors{"Max", "Add", "Clip"};
    if (!node) return tensor;
    if (passes_on(*node)) return without_floor(node->inputs[0]);
    if (!is_one_of(*node, kFloors)) return tensor;
    std::string of_batch;
    for (const auto& input : node->inputs) {
      if (!of_batch_.contains(input)) continue;
      if (!of_batch.empty()) return tensor;
      of_batch = input;
    }
    return without_floor(of_batch);
  }

  template <class View>
  LossReading cross_entropy(const onnx::Node& node, const View& view) {
    const std::string reduction = view.reduction();
    LossReading result{.is = Is::mean, .by = By::targets, .tensor = node.inputs[1]};
    if (reduction != "mean" && reduction != "sum")
      return other(fmt::format("{} reduces nothing", onnx::describe(node)));
    if (view.ignore_index()) result.ignored = *view.ignore_index();
    if (reduction == "sum") {
      result.is = Is::sum;
      return result;
    }
    if (node.has_input(2)) result.weights = node.inputs[2];
    if (!result.ignored && result.weights.empty()) {
      return over({.is = Is::mean, .by = By::elements, .tensor = node.inputs[1]});
    }
    const bool learnt = of_learnt_.contains(result.tensor) ||
                        (of_learnt_.contains(result.weights) && network_.producer(result.weights));
    if (!learnt) return result;
    return other(fmt::format("{}: its targets or weights are changed by training, or drawn",
                             onnx::describe(node)));
  }

  /// Whether the reduced tensor has a fixed number of elements per sample, whatever the batch.
  LossReading over(LossReading of) {
    constexpr std::int64_t kFew = 2, kMore = 3, kShort = 4, kLong = 6;
    const auto names = names_behind(network_, of.tensor);
    bool open = false;
    for (const auto& [name, type] : network_.graph().inputs) {
      if (!names.contains(name)) continue;
      if (!type.dims.empty() && std::holds_alternative<std::int64_t>(type.dims[0]))
        return of_samples(of);
      open = open || std::ranges::any_of(type.dims | std::views::drop(1), [](const auto& dim) {
               return !std::holds_alternative<std::int64_t>(dim);
             });
    }
    const auto few = elements(of.tensor, kFew, kLong), more = elements(of.tensor, kMore, kLong);
    if (few && more && *few * kMore != *more * kFew) {
      LossReading result =
          other(fmt::format("'{}', which it reduces, has {} elements for {} samples and {} for {}",
                            of.tensor, *few, kFew, *more, kMore));
      result.joins = *few == *more;  // no samples in it that are known
      return result;
    }
    if (of.is == Is::sum) {
      return few && more
                 ? LossReading{.is = Is::sum}
                 : other(fmt::format("the shape of '{}', which it sums, is not known before "
                                     "it runs",
                                     of.tensor));
    }
    if (!open || (few && few == elements(of.tensor, kFew, kShort))) return of_samples(of);
    return of;
  }
  static LossReading of_samples(const LossReading& of) {
    return of.is == Is::sum ? LossReading{.is = Is::sum} : LossReading{.is = Is::mean};
  }

  std::optional<std::int64_t> elements(const std::string& tensor, std::int64_t samples,
                                       std::int64_t others) const {
    ValueDescs known;
    for (const auto& [name, type] : network_.graph().inputs) {
      if (type.kind != ValueKind::tensor || !type.has_shape) continue;
      Shape shape;
      for (const auto& dim : type.dims) {
        const auto* size = std::get_if<std::int64_t>(&dim);
        shape.push_back(shape.rank() == 0 ? samples : size ? *size : others);
      }
      known[name] = TensorDesc{type.dtype, shape};
    }
    const auto descs = infer_values(network_.graph(), std::move(known));
    const auto place = descs.find(tensor);
    if (place == descs.end() || !place->second.is_static()) return {};
    return place->second.tensor.shape.elements();
  }

  const Network& network_;
  Names of_batch_, of_learnt_;
};

}  // namespace

LossReading read_loss(const Network& network, const std::string& loss) {
  return Reader(network).read(loss);
}

std::string origin_of(const Network& network, std::string tensor) {
  for (;;) {
    const onnx::Node* node = network.producer(tensor);
    if (!node || !passes_on(*node)) return tensor;
    tensor = node->inputs[0];
  }
}

std::optional<std::int64_t> compared_class(const Network& network, const std::string& tensor,
                                           std::string_view field) {
  std::set<std::int64_t> classes;
  const auto names = names_behind(network, tensor);
  for (const auto& node : network.graph().nodes) {
    if (node.op_type != "Equal" || !node.domain.empty() || !names.contains(node.outputs[0])) {
      continue;
    }
    for (const std::size_t i : {0, 1}) {
      if (origin_of(network, node.inputs[i]) != field) continue;
      const auto values = infer_graph(network.graph(), {}).values;
      const auto constant = values.find(node.inputs[1 - i]);
      const auto& initializers = network.graph().initializers;
      const auto initializer = initializers.find(node.inputs[1 - i]);
      const Tensor* one = constant != values.end()            ? &constant->second.tensor()
                          : initializer != initializers.end() ? &initializer->second
                                                              : nullptr;
      if (!one || one->elements() != 1) continue;
      dispatch(Types<std::int64_t, std::int32_t>{}, one->dtype(), "class",
               [&]<class T>() { classes.insert(std::int64_t(one->on_host().item<T>())); });
    }
  }
  if (classes.size() != 1) return {};
  return *classes.begin();
}

Network network_behind(const Network& network, const std::string& tensor) {
  const auto names = names_behind(network, tensor);
  onnx::Model model = network.model();
  onnx::Graph& graph = model.graph;
  std::erase_if(graph.nodes, [&](const onnx::Node& node) {
    return std::ranges::none_of(node.outputs, [&](const auto& o) { return names.contains(o); });
  });
  std::erase_if(graph.inputs, [&](const auto& input) { return !names.contains(input.name); });
  std::erase_if(graph.initializers, [&](const auto& one) { return !names.contains(one.first); });
  std::erase_if(graph.values, [&](const auto& one) { return !names.contains(one.name); });
  graph.outputs = {{tensor, {}}};
  return Network(std::move(model));
}

}  // namespace d5::detail
