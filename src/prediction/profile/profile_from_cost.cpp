// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/profile/profile_from_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/picture/network_summary.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "d5/level2_training/training/training_session.hpp"
#include "d5/prediction/profile/profile_training.hpp"
#include "prediction/profile/profiled_step.hpp"

namespace d5 {
namespace {

/// Work of a node's steps.
struct NodeWork {
  double forward = 0;
  int gradients = 0;  ///< number of gradients in its backward step, each as costly as forward
  std::vector<std::size_t> parameters = {};  ///< parameters whose gradients become final
};

/// The work of all nodes. Values on a path from a parameter have gradients; a parameter's gradient
/// is final at the node that reads it first.
std::vector<NodeWork> work_of(Network& network, const NetworkSummary& summary,
                              double flop_per_byte) {
  const auto& parameters = network.parameters();
  std::set<std::string> differentiated;
  std::vector<bool> seen(parameters.size());
  std::vector<NodeWork> work;
  for (const onnx::Node& node : network.graph().nodes) {
    const Cost& cost = summary.nodes[work.size()].cost;
    NodeWork each{.forward = cost.flop + flop_per_byte * (cost.bytes_read + cost.bytes_written)};
    bool reads_values = false, reads_weights = false;
    for (const auto& input : node.inputs) {
      reads_values = reads_values || differentiated.contains(input);
      const auto place = std::ranges::find(parameters, input, &Parameter::name);
      if (place == parameters.end()) continue;
      reads_weights = true;
      const auto index = static_cast<std::size_t>(place - parameters.begin());
      if (!seen[index]) each.parameters.push_back(index);
      seen[index] = true;
    }
    each.gradients = int(reads_values) + int(reads_weights);
    if (each.gradients > 0) differentiated.insert(node.outputs.begin(), node.outputs.end());
    work.push_back(std::move(each));
  }
  return work;
}

TrainingProfile profile_of(Network& network, const std::string& model, const std::string& optimizer,
                           const CostProfileOptions& options) {
  const NetworkSummary summary = summarise(network, {.batch = options.batch});
  const auto unknown =
      std::ranges::find_if(summary.nodes, [](const auto& node) { return node.incomplete > 0; });
  if (unknown != summary.nodes.end()) {
    throw Unsupported(
        fmt::format("profile of '{}' from costs: the work of node '{}' is unknown: {}",
                    printable(model), printable(unknown->name), unknown->reason));
  }
  TrainingProfile profile{.model = model,
                          .digest = model_digest(network),
                          .framework = "costs",
                          .optimizer = optimizer};
  TrainingProfile::Times times{.batch = options.batch};
  for (const Parameter& parameter : network.parameters()) {
    profile.parameters.push_back({parameter.name, static_cast<double>(parameter.gradient.bytes())});
  }
  const auto add = [&](TrainingProfile::Piece piece, double work, double gap) {
    profile.pieces.push_back(std::move(piece));
    times.seconds.push_back({work});
    times.gaps.push_back({gap});
  };
  const auto work = work_of(network, summary, options.flop_per_byte);
  for (std::size_t i = 0; i < work.size(); ++i) {
    const auto& node = summary.nodes[i];
    add({.name = node.name,
         .kind = "forward",
         .op_type = node.op_type,
         .flop = node.cost.flop,
         .bytes = node.cost.bytes_read + node.cost.bytes_written},
        work[i].forward, options.switch_seconds);
  }
  for (std::size_t i = work.size(); i-- > 0;) {
    if (work[i].gradients == 0) continue;
    add({.name = summary.nodes[i].name,
         .kind = "backward",
         .op_type = summary.nodes[i].op_type,
         .final_parameters = work[i].parameters},
        work[i].forward * work[i].gradients, options.switch_seconds);
  }
  for (const Parameter& parameter : network.parameters()) {
    add({.name = parameter.name, .kind = "update"},
        2.0 * static_cast<double>(parameter.value.elements()), 0);
  }
  double all_work = 0, all_gaps = 0;
  for (std::size_t i = 0; i < times.seconds.size(); ++i) {
    all_work += times.seconds[i][0];
    all_gaps += times.gaps[i][0];
  }
  if (all_gaps >= options.step_seconds) {
    throw ValueError(fmt::format(
        "profile of '{}' from costs: switches alone take {} s of a step of {} s; expected less",
        printable(model), all_gaps, options.step_seconds));
  }
  for (auto& seconds : times.seconds) {
    seconds[0] *= (options.step_seconds - all_gaps) / all_work;
  }
  times.steps = {options.step_seconds};
  profile.batches.push_back(std::move(times));
  check(profile);
  return profile;
}

}  // namespace

TrainingProfile profile_from_cost(const std::string& model_or_recipe,
                                  const CostProfileOptions& options) {
  const auto is_amount = [](double value) { return std::isfinite(value) && value >= 0; };
  if (options.batch < 1 || !(options.step_seconds > 0) || !is_amount(options.step_seconds) ||
      !is_amount(options.flop_per_byte) || !is_amount(options.switch_seconds)) {
    throw ValueError(fmt::format(
        "profile of '{}' from costs: a step of batch {} takes {} s, {} FLOP a byte, {} s a switch; "
        "expected a positive batch and time, and no negative value",
        printable(model_or_recipe), options.batch, options.step_seconds, options.flop_per_byte,
        options.switch_seconds));
  }
  if (is_recipe(model_or_recipe)) {
    const Recipe recipe = recipe_to_profile(model_or_recipe, options.changes, options.batch);
    TrainingSession session(recipe, {.data = options.data});
    return profile_of(session.network(), model_or_recipe, recipe.choice("optimizer").name, options);
  }
  expect_no_recipe_options(model_or_recipe, options.changes, options.data);
  Settings wishes = run_wishes("reference", {.batch = options.batch}, {});
  wishes.set("with_loss", true);
  wishes.set("training", true);
  Network network = open_model(model_or_recipe, wishes);
  return profile_of(network, model_or_recipe, "sgd", options);
}

}  // namespace d5
