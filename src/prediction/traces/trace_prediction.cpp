// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "d5/core/errors/error.hpp"
#include "d5/prediction/graph/operation_kind.hpp"
#include "d5/prediction/graph/operation_schedule.hpp"
#include "d5/prediction/traces/execution_trace.hpp"
#include "d5/prediction/training_graphs/closed_cost.hpp"
#include "prediction/traces/chakra_attributes.hpp"

namespace d5 {
namespace {

constexpr const char* kAllReduce = "all_reduce";

/// The algorithm of a kind's closed form, but for all-reduces.
std::string algorithm_of(const std::string& kind) {
  if (kind == "all_gather" || kind == "reduce_scatter") return "ring";
  if (kind == "all_to_all") return "pairwise";
  if (kind == "barrier") return "dissemination";
  const bool is_message = kind == "send" || kind == "receive" || kind == "push" || kind == "pull";
  return is_message ? "" : "binomial";
}

void expect_own_messages(const ChakraTrace& trace, const SimulatedTrainingOptions& training) {
  const Settings& settings = training.scheme.settings;
  const SimulatedTrainingOptions usual;
  const bool is_usual = training.scheme.name == usual.scheme.name &&
                        std::ranges::all_of(settings.values(), [](const auto& each) {
                          return each.first == kAllReduce;
                        });
  if (is_usual && training.rewrites.empty() && !training.map &&
      training.simulation.model.name == usual.simulation.model.name) {
    return;
  }
  throw ValueError(fmt::format(
      "execution trace '{}': a scheme or a strategy changes its messages, or how ranks are "
      "simulated; a trace has its own messages, in closed forms: expected the strategies compute "
      "and wire, and the scheme {} with {} alone",
      printable(trace.graph.name()), usual.scheme.name, kAllReduce));
}

/// The rule of an operation that communicates; nothing if its bytes are unknown.
std::optional<CostRule> rule_of(const Operation& operation, int ranks,
                                const std::string& all_reduce) {
  if (!operation_kinds().at(operation.kind).communicates) return {};
  CostRule rule = operation.rule.value_or(CostRule{});
  if (!operation.rule) {
    const auto bytes = chakra::whole_attribute(operation.attributes, "comm_size");
    if (!bytes && operation.kind != "barrier") return {};
    rule.bytes = static_cast<double>(bytes.value_or(0));
  }
  const bool sums = operation.kind == kAllReduce || operation.kind == "negotiation";
  rule.algorithm = sums ? all_reduce : algorithm_of(operation.kind);
  rule.ranks = ranks;
  return rule;
}

double step_on(const ChakraTrace& trace, int ranks, const PlannedTraining& plan,
               double messages = 1) {
  OperationGraph graph = graph_on_cluster(trace, ranks, plan);
  if (messages != 1) {
    for (const auto id : graph.ids()) {
      const Operation& operation = graph.operation(id);
      if (operation.rule) graph.retime(id, messages * operation.seconds);
    }
  }
  return schedule(graph).seconds;
}

/// Bytes through the busiest rank's port: the closed cost of a byte a second.
double bytes_through_busiest(const OperationGraph& graph) {
  ClusterDescription bytes_alone;
  bytes_alone.bandwidth.value = 1;
  double sum = 0;
  for (const auto id : graph.ids()) {
    const Operation& operation = graph.operation(id);
    if (operation.rule && operation_kinds().at(operation.kind).communicates) {
      sum += closed_seconds(operation.kind, *operation.rule, bytes_alone);
    }
  }
  return std::min(sum, 0x1p62);  // fits an integer
}

void find_trace_bound(PredictedPoint& point, const ChakraTrace& trace,
                      const PlannedTraining& plan) {
  point.bound_by = "computing";
  double best = point.step;
  const auto change = [&](const char* what, const EntryChoice& strategy) {
    PlannedTraining other = plan;
    apply_strategies({&strategy, 1}, other);
    const double step = step_on(trace, point.ranks, other);
    if (step < best) point.bound_by = what;
    best = std::min(best, step);
  };
  change("computing", {"compute", {{"factor", 2}}});
  if (point.ranks > 1) {
    change("bandwidth", {"wire", {{"bandwidth", 2}}});
    change("latency", {"wire", {{"latency", 0.5}}});
  }
  point.gain = point.step - best;
}

/// `notes` of the trace: what it does not say.
std::string mistrust_of(const OperationGraph& graph, const ClusterDescription& cluster,
                        const std::vector<std::string>& notes) {
  std::string reasons;
  const auto add = [&](const std::string& reason) {
    reasons += (reasons.empty() ? "" : "; ") + reason;
  };
  if (cluster.spread.value > ClusterDescription::kBusySpread) {
    add(fmt::format("the cluster's calibration was {:.0f}% off where it was not fitted",
                    100 * cluster.spread.value));
  }
  double largest = 0;
  std::size_t unknown = 0;
  for (const auto id : graph.ids()) {
    const Operation& operation = graph.operation(id);
    if (operation.rule) largest = std::max(largest, operation.rule->bytes);
    unknown += !operation.rule && operation_kinds().at(operation.kind).communicates;
  }
  if (cluster.calibrated_bytes.value > 0 && largest > cluster.calibrated_bytes.value) {
    add(fmt::format("messages of {} bytes are larger than the largest of the calibration, {}",
                    largest, cluster.calibrated_bytes.value));
  }
  if (unknown > 0) {
    add(fmt::format("{} messages without comm_size take their recorded time", unknown));
  }
  for (std::string note : notes) {
    std::ranges::replace(note, ';', ',');  // which parts reasons
    add(note);
  }
  return reasons;
}

}  // namespace

OperationGraph graph_on_cluster(const ChakraTrace& trace, int ranks, const PlannedTraining& plan) {
  expect_own_messages(trace, plan.training);
  expect_places(plan.cluster, ranks);
  const std::string all_reduce = plan.training.scheme.settings.text(kAllReduce, "ring");
  OperationGraph graph = trace.graph;
  for (const auto id : graph.ids()) {
    Operation& operation = graph.edit(id);
    if (auto rule = rule_of(operation, ranks, all_reduce)) {
      operation.rule = std::move(rule);
    } else if (!operation_kinds().at(operation.kind).communicates && !operation.rule) {
      graph.retime(id, plan.training.compute_factor * operation.seconds);
    }
  }
  price(graph, closed_cost(plan.cluster));
  return graph;
}

std::vector<PredictedPoint> predict_execution_trace(const ChakraTrace& trace,
                                                    const PlannedTraining& plan,
                                                    std::span<const int> ranks) {
  if (ranks.empty() || trace.graph.total_seconds() == 0) {
    throw ValueError(fmt::format("execution trace '{}': {}", printable(trace.graph.name()),
                                 ranks.empty() ? "no numbers of ranks; expected one or more"
                                               : "no operation takes time; expected times"));
  }
  constexpr double kMostSpread = 0.9;  // messages of no time or of twice theirs are no interval
  const double alone = step_on(trace, 1, plan);
  const auto batch = static_cast<double>(plan.training.batch);
  std::vector<PredictedPoint> points;
  for (const int number : ranks) {
    const OperationGraph graph = graph_on_cluster(trace, number, plan);
    const double spread = std::min(plan.cluster.spread.value, kMostSpread);
    PredictedPoint point;
    point.ranks = number;
    point.batch = plan.training.batch;
    point.step = schedule(graph).seconds;
    point.step_interval = {point.step, point.step};
    if (spread > 0) {
      point.step_interval = {step_on(trace, number, plan, 1 - spread),
                             step_on(trace, number, plan, 1 + spread)};
    }
    point.baseline = std::numeric_limits<double>::quiet_NaN();
    point.throughput = batch * number / point.step;
    point.alone = batch / alone;
    point.efficiency = alone / point.step;
    point.alpha = std::numeric_limits<double>::quiet_NaN();
    point.computed = alone;
    point.exposed = std::max(0.0, point.step - alone);
    point.bytes = std::llround(bytes_through_busiest(graph));
    point.mistrusted = mistrust_of(graph, plan.cluster, trace.notes);
    find_trace_bound(point, trace, plan);
    points.push_back(std::move(point));
  }
  return points;
}

}  // namespace d5
