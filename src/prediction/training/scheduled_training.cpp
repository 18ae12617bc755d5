// SPDX-License-Identifier: Apache-2.0
#include "prediction/training/scheduled_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/core/numbers/byte_count.hpp"
#include "d5/prediction/graph/operation_kind.hpp"
#include "d5/prediction/training_graphs/closed_cost.hpp"
#include "prediction/training/contended_pieces.hpp"

namespace d5 {
namespace {

bool has_a_graph(const EntryChoice& scheme) {
  return scheme.name == "consistent_decentralized" &&
         scheme.settings.text("exchange", "dense") == "dense";
}

/// Bytes through the busiest rank's port: the closed cost with one second per byte and nothing
/// else.
double bytes_passed(const Operation& operation) {
  ClusterDescription bytes_alone;
  bytes_alone.bandwidth.value = 1;
  return operation_kinds().at(operation.kind).communicates && operation.rule
             ? closed_seconds(operation.kind, *operation.rule, bytes_alone)
             : 0;
}

/// Gives each piece its slowdown by the map.
void slow_pieces(OperationGraph& graph, const TrainingProfile& profile,
                 const SimulatedTrainingOptions& options) {
  const auto slowdowns = detail::contended_pieces(profile, options).slowdowns;
  std::map<std::pair<std::string, std::string>, Slowdown> by_piece;
  for (std::size_t i = 0; i < slowdowns.size(); ++i) {
    by_piece[{profile.pieces[i].kind, profile.pieces[i].name}] = slowdowns[i];
  }
  for (const auto id : graph.ids()) {
    const Operation& operation = graph.operation(id);
    const auto place = by_piece.find({operation.kind, operation.name});
    if (place != by_piece.end()) set_slowdown(graph.edit(id), place->second);
  }
}

}  // namespace

PlannedGraph planned_graph(const TrainingProfile& profile, int ranks,
                           const ClusterDescription& cluster,
                           const SimulatedTrainingOptions& options) {
  const bool is_rewritten =
      std::ranges::any_of(options.rewrites, &TrainingRewrite::is_scheme) && ranks > 1;
  const Settings& settings = options.scheme.settings;
  if (!has_a_graph(options.scheme) && !is_rewritten && ranks > 1) {
    throw Unsupported(fmt::format(
        "a graph of the scheme '{}': only consistent_decentralized with the exchange dense has "
        "one; other schemes run on simulated ranks, without strategies that no scheme implements",
        printable(options.scheme.name)));
  }
  constexpr std::size_t kUsual = std::size_t{4} << 20;
  const auto size = [&](const char* name, std::size_t usual) {
    const std::string text = settings.text(name, "0");
    return text == "0" ? usual : byte_count(text);
  };
  const detail::PlannedAllReduce all_reduce = detail::planned_all_reduce(options.scheme, "ring");
  PlannedGraph plan{
      .graph = data_parallel_graph(profile, {.batch = options.batch,
                                             .ranks = ranks,
                                             .buckets = {.least = size("bucket_bytes", kUsual),
                                                         .first = size("first_bucket_bytes", 0),
                                                         .last = size("last_bucket_bytes", 0)},
                                             .algorithm = all_reduce.name}),
      .ranks = ranks,
      .cost = closed_cost(cluster)};
  for (const auto id : plan.graph.ids()) {
    const Operation& operation = plan.graph.operation(id);
    if (!operation.rule) plan.graph.retime(id, options.compute_factor * operation.seconds);
  }
  if (options.map) slow_pieces(plan.graph, profile, options);
  for (const TrainingRewrite& rewrite : options.rewrites) rewrite.change(plan);
  return plan;
}

SimulatedTraining scheduled_training(const TrainingProfile& profile, int ranks,
                                     const ClusterDescription& cluster,
                                     const SimulatedTrainingOptions& options) {
  expect_places(cluster, ranks);
  const PlannedGraph plan = planned_graph(profile, ranks, cluster, options);
  const StepPrediction step = predict_steady_step(plan);
  SimulatedTraining training;
  training.step = step.seconds;
  training.computed = options.compute_factor * step_times(profile, options.batch).step;
  training.alpha = step.alpha;
  double passed = 0;
  for (const auto id : plan.graph.ids()) passed += bytes_passed(plan.graph.operation(id));
  training.bytes_sent = std::llround(passed);
  training.exposed = exposed_time(training.step, training.computed);
  training.steps.assign(static_cast<std::size_t>(options.steps),
                        {.backward_end = step.compute,
                         .exchange_end = step.alpha > 0 ? step.compute / step.alpha : step.compute,
                         .end = step.seconds});
  return training;
}

}  // namespace d5
