// SPDX-License-Identifier: Apache-2.0
#include "apps/prediction/predicted_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apps/publish.hpp"
#include "apps/say.hpp"
#include "d5/core/entries/entry_words.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/prediction/graph/operation_graph_file.hpp"
#include "d5/prediction/graph/operation_schedule.hpp"
#include "d5/prediction/training/prediction_strategy.hpp"

namespace d5::app {
namespace {

void expect_replay(const PredictOptions& options) {
  std::string given;
  const auto note = [&](bool is_given, const char* name) {
    if (is_given) given += (given.empty() ? "" : ", ") + std::string(name);
  };
  note(!options.measure.empty(), "--measure");
  note(!options.map.empty(), "--map");
  note(options.strong, "--strong");
  note(options.every_rank, "--every-rank");
  note(!options.engine.empty() && options.engine != "formula", "--model");
  if (given.empty()) return;
  throw ValueError(fmt::format(
      "predict: {} with the execution trace '{}', which is replayed in closed forms and trains "
      "nothing; leave it out",
      given, printable(options.model)));
}

void print_imported(const PredictOptions& options, const ChakraTrace& trace) {
  if (!is_for_people(options.format)) {
    if (options.quiet) return;
    for (const std::string& note : trace.notes) say_wrapped("left out: " + printable_message(note));
    return;
  }
  print_wrapped(fmt::format("{}: an execution trace of {} operations\n", printable(options.model),
                            trace.graph.size()));
  print(execution_trace_table(trace), options.format);
  fmt::print("\n");
  for (const std::string& note : trace.notes) print_wrapped(printable_message(note));
  if (!trace.notes.empty()) fmt::print("\n");
}

}  // namespace

void write_graph(const ChakraTrace& trace, const std::string& path) {
  if (path.ends_with(".et")) {
    write_execution_trace(trace, path);
  } else {
    write_operation_graph(trace.graph, path);
  }
}

std::vector<PredictedCurve> predict_trace(const PredictOptions& options) {
  expect_replay(options);
  if (!options.graph.empty()) check_writable(options.graph);
  const ChakraTrace trace = read_execution_trace(options.model);
  const std::vector<int> ranks = cluster_ranks_of(options);
  PlannedTraining plan;
  plan.training.batch = std::max<std::int64_t>(1, options.batch);
  plan.training.scheme = entry_of_words("distributed optimizer", options.scheme);
  std::vector<std::pair<std::string, PlannedTraining>> plans;
  for (ClusterDescription& cluster : clusters_of(options)) {
    plan.cluster = std::move(cluster);
    plans.emplace_back("", plan);
    for (const std::string& words : options.strategies) {
      plans.emplace_back(words, plan);
      apply_strategies(strategies_of(words), plans.back().second);
    }
  }
  std::vector<PredictedCurve> curves;
  for (const auto& [words, each] : plans) {
    curves.push_back({.model = options.model,
                      .framework = "trace",
                      .device = "cpu",
                      .cluster = each.cluster.name,
                      .strategy = words,
                      .points = predict_execution_trace(trace, each, ranks)});
  }
  print_imported(options, trace);
  if (options.graph.empty() && options.trace.empty()) return curves;
  ChakraTrace predicted = trace;
  predicted.graph = graph_on_cluster(trace, ranks.back(), plans.back().second);
  if (!options.graph.empty()) write_graph(predicted, options.graph);
  if (!options.trace.empty()) {
    write_timeline(to_timeline(predicted.graph, schedule(predicted.graph)), options.trace);
  }
  return curves;
}

}  // namespace d5::app
