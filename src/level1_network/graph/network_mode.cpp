// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/graph/network_mode.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "d5/core/entries/registry.hpp"
#include "level1_network/nodes/node_names.hpp"

namespace d5 {
namespace {

constexpr std::size_t kMean = 3, kVariance = 4;  // inputs of BatchNormalization
constexpr std::size_t kTrainingMode = 2;         // input of Dropout

/// The index of the BatchNormalization input from which its output `i` is computed.
constexpr std::size_t statistic(std::size_t output) { return output % 2 == 1 ? kMean : kVariance; }

bool is_normalization(const onnx::Node& node) {
  return node.domain.empty() && node.op_type == "BatchNormalization";
}

/// Whether a BatchNormalization is written for training.
bool trains(const onnx::Node& node) {
  const auto* mode = node.attribute<std::int64_t>("training_mode");
  return mode && *mode != 0;
}

class ModeSetter {
 public:
  ModeSetter(const Network& network, bool training)
      : network_(network),
        training_(training),
        some_train_(std::ranges::any_of(network.graph().nodes, [](const auto& node) {
          return is_normalization(node) && trains(node);
        })) {}

  GraphInMode run() {
    result_ = {.graph = network_.graph(), .updates = network_.updates()};
    set(result_.graph, &result_.updates);
    if (!flag_.empty()) result_.graph.initializers[flag_] = Tensor::scalar(training_);
    return std::move(result_);
  }

 private:
  using Updates = std::map<std::string, std::string>;

  /// Sets the mode of all nodes. Without `updates` it is a nested graph, which cannot update the
  /// network.
  void set(onnx::Graph& graph, Updates* updates) {
    std::set<std::string> read;
    for (const auto& node : graph.nodes) {
      for (auto& name : read_names(node)) read.insert(std::move(name));
    }
    for (const auto& output : graph.outputs) read.insert(output.name);

    std::vector<onnx::Node> nodes = std::exchange(graph.nodes, {});
    for (onnx::Node& node : nodes) {
      if (node.domain.empty() && node.op_type == "Dropout") set_dropout(node);
      for (auto& [name, attribute] : node.attributes) set_held(attribute);
      if (!is_normalization(node) || (training_ && some_train_ && !trains(node))) {
        graph.nodes.push_back(std::move(node));
      } else if (training_) {
        graph.nodes.push_back(train(std::move(node), updates));
      } else {
        for (auto& part : infer(std::move(node), read, updates)) {
          graph.nodes.push_back(std::move(part));
        }
      }
    }
  }

  void set_held(onnx::Attribute& attribute) {
    auto* graph = std::get_if<std::shared_ptr<const onnx::Graph>>(&attribute);
    if (!graph) return;
    auto inner = std::make_shared<onnx::Graph>(**graph);
    set(*inner, nullptr);
    *graph = std::move(inner);
  }

  /// From opset 7 to 11 the runtime decides whether Dropout drops.
  void set_dropout(onnx::Node& node) {
    result_.differs = true;
    if (node.opset < 7) node.attributes["is_test"] = std::int64_t{!training_};
    if (node.opset < 12) return;
    if (flag_.empty()) flag_ = network_.unused_name(training_ ? "mode.training" : "mode.inference");
    node.inputs.resize(kTrainingMode + 1);
    node.inputs[kTrainingMode] = flag_;
  }

  onnx::Node train(onnx::Node node, Updates* updates) {
    set_training(node);
    if (node.outputs.size() < 3) node.outputs.resize(3);
    for (const std::size_t i : {1, 2}) {
      std::string& output = node.outputs[i];
      if (output.empty())
        output = network_.unused_name(node.outputs[0] + (i == 1 ? ".new_mean" : ".new_var"));
      const std::string& running = node.inputs.at(statistic(i));
      const bool ours = network_.graph().initializers.contains(running);
      if (updates && ours && !network_.is_parameter(running)) (*updates)[running] = output;
    }
    return node;
  }

  /// The node, followed by nodes that return the statistics, which it no longer computes, to
  /// readers.
  std::vector<onnx::Node> infer(onnx::Node node, const std::set<std::string>& read,
                                Updates* updates) {
    set_training(node);
    const std::vector<std::string> dropped(node.outputs.begin() + 1, node.outputs.end());
    node.outputs.resize(1);
    std::vector<onnx::Node> result{std::move(node)};
    for (std::size_t i = 0; i < dropped.size(); ++i) {
      const auto makes = [&](const auto& update) { return update.second == dropped[i]; };
      if (updates) std::erase_if(*updates, makes);
      if (dropped[i].empty() || !read.contains(dropped[i])) continue;
      onnx::Node& identity = result.emplace_back();
      identity.name = dropped[i];
      identity.op_type = "Identity";
      identity.opset = result.front().opset;
      identity.inputs = {result.front().inputs.at(statistic(i + 1))};
      identity.outputs = {dropped[i]};
    }
    return result;
  }

  void set_training(onnx::Node& node) {
    result_.differs = true;
    if (node.opset >= 14) node.attributes["training_mode"] = std::int64_t{training_};
    if (node.opset < 7) node.attributes["is_test"] = std::int64_t{!training_};
  }

  const Network& network_;
  bool training_;
  bool some_train_;  ///< a BatchNormalization is written for training: the others are frozen
  GraphInMode result_;
  std::string flag_;  ///< the flag that Dropouts read
};

}  // namespace

std::string_view name_of(NetworkMode mode) {
  return mode == NetworkMode::training    ? "training"
         : mode == NetworkMode::inference ? "inference"
                                          : "as_written";
}

NetworkMode network_mode_from_name(std::string_view name) {
  std::vector<std::string> known;
  for (const auto mode : {NetworkMode::as_written, NetworkMode::training, NetworkMode::inference}) {
    if (name_of(mode) == name) return mode;
    known.emplace_back(name_of(mode));
  }
  throw_unknown_name("mode of a network", name, known);
}

GraphInMode graph_in_mode(const Network& network, NetworkMode mode) {
  if (mode == NetworkMode::as_written) {
    return {.graph = network.graph(), .updates = network.updates()};
  }
  return ModeSetter(network, mode == NetworkMode::training).run();
}

}  // namespace d5
