// SPDX-License-Identifier: Apache-2.0
#include "level2_training/optimization/step_graph/step_parts.hpp"

#include <algorithm>
#include <ranges>
#include <set>

#include "d5/onnx/nodes.hpp"
#include "level1_network/nodes/differentiated_graph.hpp"
#include "level1_network/nodes/node_names.hpp"
#include "level2_training/optimization/step_graph/step_model.hpp"
#include "level2_training/optimization/step_graph/update_operator.hpp"

namespace d5::detail {
namespace {

using Names = std::set<std::string, std::less<>>;
using Updates = std::map<std::string, std::string>;

class StepSplitter {
 public:
  explicit StepSplitter(const Network& step) : step_(step), graph_(step.graph()) {}

  std::optional<StepParts> run() {
    if (!find_gradient()) return std::nullopt;
    divide();
    // Each part sees values as they were before the step: neither overwrites what the other reads.
    for (const auto& [constant, output] : forward_updates_) {
      if (update_reads_.contains(constant)) return std::nullopt;
    }
    const onnx::nodes::training::Gradient view(*gradient_);
    StepParts parts{.forward = part(forward_, forward_reads_, forward_updates_),
                    .update = Network(""),
                    .loss = view.y(),
                    .variables = view.xs(),
                    .gradients = gradient_->outputs,
                    .handed = {handed_.begin(), handed_.end()}};
    Names given = handed_;
    given.insert(parts.gradients.begin(), parts.gradients.end());
    parts.update = part(update_, update_reads_, update_updates_, given);
    return parts;
  }

 private:
  /// The only one, of initializers, which only updates read.
  bool find_gradient() {
    bool updates = false;
    for (const onnx::Node& node : graph_.nodes) {
      updates = updates || is_update(node);
      if (!is_gradient(node)) continue;
      if (gradient_) return false;
      gradient_ = &node;
    }
    if (!gradient_ || !updates) return false;
    const onnx::nodes::training::Gradient view(*gradient_);
    const auto inputs = step_.input_names();
    const auto zs = view.zs().value_or(std::vector<std::string>());
    return std::ranges::all_of(view.xs(),
                               [&](const auto& x) { return graph_.initializers.contains(x); }) &&
           std::ranges::all_of(
               zs, [&](const auto& z) { return std::ranges::find(inputs, z) != inputs.end(); }) &&
           view.xs().size() == gradient_->outputs.size() &&
           std::ranges::none_of(gradient_->outputs, &std::string::empty);
  }

  void divide() {
    Names needed, written;
    for (const auto& output : graph_.outputs) needed.insert(output.name);
    needed.insert(onnx::nodes::training::Gradient(*gradient_).y());
    for (const onnx::Node& node : std::views::reverse(graph_.nodes)) {
      if (&node == gradient_) continue;
      const bool forward = std::ranges::any_of(
          node.outputs, [&](const auto& name) { return needed.contains(name); });
      auto& reads = forward ? forward_reads_ : update_reads_;
      for (auto& name : read_names(node)) {
        if (forward) needed.insert(name);
        reads.insert(std::move(name));
      }
      if (forward) written.insert(node.outputs.begin(), node.outputs.end());
      (forward ? forward_ : update_).insert((forward ? forward_ : update_).begin(), node);
    }
    for (const auto& [constant, output] : step_.updates()) {
      (written.contains(output) ? forward_updates_ : update_updates_)[constant] = output;
    }
    std::ranges::set_intersection(update_reads_, written, std::inserter(handed_, handed_.end()));
  }

  /// Of nodes that read `reads`, with what others give as inputs.
  Network part(std::vector<onnx::Node> nodes, const Names& reads, const Updates& updates,
               const Names& given = {}) const {
    onnx::Model model = step_.model();
    model.graph.nodes = std::move(nodes);
    model.graph.values.clear();
    std::erase_if(model.graph.initializers, [&](const auto& entry) {
      return !reads.contains(entry.first) && !updates.contains(entry.first);
    });
    std::erase_if(model.graph.inputs,
                  [&](const auto& input) { return !reads.contains(input.name); });
    for (const std::string& name : given) model.graph.inputs.push_back({name, {}});
    if (given.empty()) {
      for (const std::string& name : handed_) model.graph.outputs.push_back({name, {}});
    } else {
      model.graph.outputs.clear();
    }
    return network_of_constants(std::move(model), updates);
  }

  const Network& step_;
  const onnx::Graph& graph_;
  const onnx::Node* gradient_ = nullptr;
  std::vector<onnx::Node> forward_, update_;
  Names forward_reads_, update_reads_, handed_;
  Updates forward_updates_, update_updates_;
};

}  // namespace

std::optional<StepParts> parts_of(const Network& step) { return StepSplitter(step).run(); }

}  // namespace d5::detail
