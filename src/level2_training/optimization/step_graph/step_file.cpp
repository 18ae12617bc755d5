// SPDX-License-Identifier: Apache-2.0
#include "level2_training/optimization/step_graph/step_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <set>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/network_mode.hpp"
#include "d5/level2_training/losses/loss.hpp"
#include "d5/level2_training/optimization/step_graph.hpp"
#include "d5/onnx/training_step.hpp"
#include "level1_network/nodes/identical.hpp"
#include "level1_network/nodes/node_names.hpp"
#include "level1_network/nodes/output_types.hpp"
#include "level2_training/optimization/step_graph/step_model.hpp"
#include "level2_training/optimization/step_graph/update_operator.hpp"
#include "onnx/tensor_type.hpp"

namespace d5::detail {
namespace {

/// The prefix of values that a training step computes differently from the tested network.
constexpr std::string_view kTraining = "training/";

using Names = std::set<std::string, std::less<>>;

Names names_in(const onnx::Graph& graph) {
  Names names;
  for (const auto& input : graph.inputs) names.insert(input.name);
  for (const auto& [name, value] : graph.initializers) names.insert(name);
  for (const auto& node : graph.nodes) names.insert(node.outputs.begin(), node.outputs.end());
  names.erase("");
  return names;
}

bool is_same(const onnx::Node& a, const onnx::Node& b) {
  return a.op_type == b.op_type && a.domain == b.domain && a.opset == b.opset &&
         a.inputs == b.inputs && a.outputs == b.outputs && identical_attributes(a, b);
}

/// Writes the part of the step that is not in the inference network.
class AlgorithmWriter {
 public:
  AlgorithmWriter(const StepFile& file)
      : file_(file), step_(file.step.graph()), tested_(file.inference->model.graph) {}

  onnx::TrainingInfo run() {
    info_.algorithm.name = step_.name + " training step";
    const Names known = names_in(tested_);
    for (const onnx::Node& node : step_.nodes) add_node(node, known);
    for (const auto& input : step_.inputs) {
      if (!known.contains(input.name)) info_.algorithm.inputs.push_back(input);
    }
    for (const auto& [name, value] : step_.initializers) {
      if (!tested_.initializers.contains(name)) info_.algorithm.initializers[name] = value;
    }
    for (const auto& [name, value] : file_.numbers) {
      info_.algorithm.initializers[name] = Tensor::scalar(value);
    }
    onnx::Graph typed = step_;  // a file declares the types of outputs
    declare_custom_outputs(typed);
    for (const auto& output : typed.outputs) add_output(output);
    for (const auto& [constant, output] : file_.step.updates()) {
      const std::string name = renamed(output);
      info_.update_binding[constant] = name;
      if (!known.contains(name)) {
        info_.algorithm.outputs.push_back({name, tensor_type(file_.step.fetch(constant).desc())});
      }
    }
    return std::move(info_);
  }

 private:
  void add_node(const onnx::Node& node, const Names& known) {
    const auto reads = read_names(node);
    const bool reads_others =
        std::ranges::any_of(reads, [&](const auto& name) { return names_.contains(name); });
    const auto same = [&](const onnx::Node& other) { return is_same(node, other); };
    if (!reads_others && std::ranges::any_of(tested_.nodes, same)) return;
    onnx::Node& own = info_.algorithm.nodes.emplace_back(node);
    rename_reads(own, names_);
    for (std::string& output : own.outputs) {
      if (output.empty() || !known.contains(output)) continue;
      output = names_[output] = std::string(kTraining) + output;
    }
  }

  std::string renamed(const std::string& name) const {
    const auto place = names_.find(name);
    return place == names_.end() ? name : place->second;
  }

  void add_output(const onnx::ValueInfo& output) {
    const std::string name = renamed(output.name);
    const auto is_tested = std::ranges::find(tested_.outputs, name, &onnx::ValueInfo::name);
    if (is_tested == tested_.outputs.end()) info_.algorithm.outputs.push_back({name, output.type});
  }

  const StepFile& file_;
  const onnx::Graph &step_, &tested_;
  onnx::TrainingInfo info_;
  NewNames names_;
};

/// Reads a step from a file's graphs together.
class StepReader {
 public:
  StepReader(onnx::TrainingStep file) : file_(std::move(file)), graph_(file_.whole.graph) {}

  StepFile run() {
    choose_outputs();
    drop_unneeded();
    give_back_names();
    StepFile result{.step = Network(""),
                    .inference = std::make_shared<onnx::ModelFile>(std::move(file_.inference)),
                    .numbers = {}};
    make_inputs(result.numbers);
    result.step = network_of_constants(std::move(file_.whole), file_.update_binding);
    return result;
  }

 private:
  /// Chooses the outputs of the model and of the algorithm, without those that only updates read.
  void choose_outputs() {
    Names taken;
    for (const auto& [constant, output] : file_.update_binding) taken.insert(output);
    Names tested, all;
    for (const auto& output : file_.inference.model.graph.outputs) tested.insert(output.name);
    for (const auto& output : graph_.outputs) all.insert(output.name);
    std::erase_if(graph_.outputs, [&](const onnx::ValueInfo& output) {
      return (taken.contains(output.name) && !tested.contains(output.name)) ||
             all.contains(std::string(kTraining) + output.name);
    });
  }

  void drop_unneeded() {
    Names needed;
    for (const auto& output : graph_.outputs) needed.insert(output.name);
    for (const auto& [constant, output] : file_.update_binding) needed.insert(output);
    std::vector<onnx::Node> kept;
    for (onnx::Node& node : std::views::reverse(graph_.nodes)) {
      if (std::ranges::none_of(node.outputs,
                               [&](const auto& name) { return needed.contains(name); })) {
        continue;
      }
      for (auto& name : read_names(node)) needed.insert(std::move(name));
      kept.push_back(std::move(node));
    }
    std::ranges::reverse(kept);
    graph_.nodes = std::move(kept);
    std::erase_if(graph_.initializers, [&](const auto& entry) {
      return !needed.contains(entry.first) && !file_.update_binding.contains(entry.first);
    });
    graph_.values.clear();
  }

  /// Restores names that were renamed because the inference network has them.
  void give_back_names() {
    const Names used = names_in(graph_);
    NewNames names;
    for (const std::string& name : used) {
      if (!name.starts_with(kTraining)) continue;
      const std::string own = name.substr(kTraining.size());
      if (!used.contains(own)) names[name] = own;
    }
    const auto rename = [&](std::string& name) {
      if (const auto place = names.find(name); place != names.end()) name = place->second;
    };
    for (onnx::Node& node : graph_.nodes) {
      rename_reads(node, names);
      std::ranges::for_each(node.outputs, rename);
    }
    for (auto& output : graph_.outputs) rename(output.name);
    for (auto& [constant, output] : file_.update_binding) rename(output);
  }

  /// Makes hyper-parameters inputs; they are initializers in the file.
  void make_inputs(std::map<std::string, double>& numbers) {
    for (const onnx::Node& node : graph_.nodes) {
      if (!is_update(node)) continue;
      const std::size_t count = words_of(node).hyper_parameters.size();
      for (std::size_t h = 0; h < count && 1 + h < node.inputs.size(); ++h) {
        const auto place = graph_.initializers.find(node.inputs[1 + h]);
        const bool is_number =
            place != graph_.initializers.end() && place->second.dtype() == DType::float64 &&
            place->second.shape() == Shape{} && !file_.update_binding.contains(place->first);
        if (!is_number) continue;
        numbers[place->first] = place->second.item<double>();
        graph_.inputs.push_back({place->first, tensor_type(place->second.desc())});
        graph_.initializers.erase(place);
      }
    }
  }

  onnx::TrainingStep file_;
  onnx::Graph& graph_;
};

}  // namespace

StepFile load_step_file(const std::string& path) {
  add_update_operator();
  return StepReader(onnx::load_training_step(path)).run();
}

void save_step_file(const StepFile& file, const std::string& path) {
  onnx::ModelFile whole = *file.inference;
  whole.model = with_values_of(file.step, std::move(whole.model));
  onnx::set_training_info(whole, AlgorithmWriter(file).run());
  for (const auto& [domain, version] : file.step.model().opset_imports) {
    whole.model.opset_imports.emplace(domain, version);
  }
  onnx::save(whole, path);
}

std::shared_ptr<const onnx::ModelFile> inference_file(const Network& network,
                                                      const std::string& loss) {
  const Network tested = without_loss(network, loss);
  onnx::Model model = tested.model();
  model.graph = graph_in_mode(tested, NetworkMode::inference).graph;
  for (auto& [name, value] : model.graph.initializers) value = value.copy(Device{});
  return std::make_shared<onnx::ModelFile>(onnx::ModelFile{.model = std::move(model)});
}

onnx::Model with_values_of(const Network& network, onnx::Model model) {
  const auto& values = network.graph().initializers;
  for (auto& [name, value] : model.graph.initializers) {
    if (const auto place = values.find(name); place != values.end()) value = place->second;
  }
  return model;
}

}  // namespace d5::detail
