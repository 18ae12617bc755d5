// SPDX-License-Identifier: Apache-2.0
#include "apps/prediction/predict_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <memory>
#include <sstream>

#include "apps/declared_options.hpp"
#include "d5/core/clocks/clock.hpp"
#include "d5/core/entries/entry_words.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/numbers/duration.hpp"
#include "d5/core/results/results.hpp"
#include "d5/level3_distributed/launching/rank_launch.hpp"
#include "d5/prediction/training/prediction_strategy.hpp"

namespace d5::app {
namespace {

constexpr std::int64_t kProfiledSteps = 30;  // fewer are mistrusted

/// One launch's share of a time that is for all of them.
std::string part_of_launch(const std::string& time, int launches) {
  return duration_words(duration_of(time) / launches);
}

/// Batch sizes per rank: "16", or "16,8" if 1 and 2 ranks share the batch.
std::string profiled_batches(const PredictOptions& options) {
  if (!options.strong || options.measure.empty()) return std::to_string(options.batch);
  std::vector<std::int64_t> sizes;
  for (const int ranks : ranks_from(options.measure)) {
    sizes.push_back(std::max<std::int64_t>(1, options.batch / ranks));
  }
  return fmt::format("{}", fmt::join(sizes, ","));
}

}  // namespace

void PredictOptions::declare(OptionList& options) {
  const OptionText entry{.placeholder = "NAME:KEY=VALUE..."}, time{.placeholder = "TIME"};
  options.add("batch", batch,
              "samples in each rank's batch; with --strong in the batch that all ranks share. 0: a "
              "profile's only batch, a recipe's own, 16 of a model",
              {.least = 0, .most = 1'000'000});
  options.add("strong", strong, "share the batch between all ranks");
  options
      .add("clusters", clusters,
           "cluster descriptions: files, or built-in names (ethernet-10g if left out)",
           {.placeholder = "NAME|FILE"})
      .flag = "cluster";
  options.add("wire", wire,
              "model the cluster as ports of this latency and bandwidth, one per rank; --measure "
              "delays messages alike",
              {.placeholder = "LATENCY,BANDWIDTH"});
  options.add("scheme", scheme, "scheme and its options ('d5 list distributed-optimizers')", entry)
      .flag = "distributed";
  options.add("optimizer", optimizer, "optimizer ('d5 list optimizers')", entry);
  options.add("steps", steps, "steps to profile, and to measure, over all launches",
              {.least = 2, .most = 1'000'000});
  options.add("least_time", least_time,
              "minimum total time of the steps: more than --steps, 500 at most per launch, if they "
              "take less",
              time);
  options.add("measure", measure,
              "numbers of ranks of this machine to predict, from as many copies and their cluster, "
              "and then to measure",
              {.placeholder = "N,..."});
  options.add("launches", launches,
              "launches per number of ranks that is profiled or measured, in turns, because "
              "processes differ by more than their steps do. The median of a measured launch is a "
              "sample; 1: each step is",
              {.least = 1, .most = 1000});
  options.add(
      "budget", budget,
      "time and memory limit of each simulation, as 30s or 30s,2GiB; a curve ends at the "
      "last point within it, and the table says what is left out. 0s: no limit of time. The "
      "time of a profile is limited by --step-budget",
      {.placeholder = "TIME|SIZE,..."});
  options.add(
      "step_budget", step_budget,
      "time limit of each profile (--budget of 'd5 profile'), and of measuring each number of "
      "ranks; steps end with it",
      time);
  options
      .add(
          "engine", engine,
          "model of the network's time ('d5 list simulated-networks'; by default ports for a star, "
          "simgrid for other topologies); formula: closed forms at once, for any number of ranks",
          entry)
      .flag = "model";
  options.add("every_rank", every_rank,
              "simulate every rank, also where those of one host stand for all: more than 4 hosts "
              "that are alike");
  options.add("what_helps", what_helps,
              "find each row's bottleneck: three more simulations, with computing, bandwidth and "
              "latency twice as good");
  options.add("map", map,
              "overlap map of 'd5 overlap map --out', by which computation and communication that "
              "overlap slow each other in a second prediction",
              {.placeholder = "FILE"});
  options.add("keep", keep,
              "folder that keeps profiles and cluster descriptions of this machine for later runs",
              {.placeholder = "DIR"});
  options.add("force", force,
              "accept a profile in --keep of another machine, version or number of threads, and a "
              "--map of another machine, all-reduce or resources, and mistrust it");
  options.add("graph", graph,
              "graph of rank 0's step, as predicted for the last cluster, strategy and number of "
              "ranks: an execution trace (.et), .json, .dot or .svg",
              {.placeholder = "FILE"});
  options.add("pictures", pictures, "folder for a picture of the curve", {.placeholder = "DIR"});
}

void add_predict_options(CLI::App& command, PredictOptions& options, bool& measures_here) {
  command
      .add_option("MODEL", options.model,
                  "built-in network or .onnx file with a loss, recipe, profile (.json), or "
                  "Chakra execution trace (.et)")
      ->required();
  command
      .add_option("--ranks", options.ranks,
                  "numbers of ranks, as 1,2,4 or 1..128 (1..8 if left out)")
      ->option_text("N,...|N..N");
  command
      .add_option("--strategy", options.strategies,
                  "changes to the prediction (below), applied in order; each further option is a "
                  "further curve")
      ->allow_extra_args(false)
      ->option_text("NAME:KEY=VALUE,...");
  command
      .add_flag("--measure-here", measures_here,
                "measure without predicting: what --measure starts")
      ->group("");
  add_declared_options(command, options, "Prediction");
  add_run_options(command, options);
  add_execution_options(command, options);
  add_output_options(command, options);
}

std::vector<ClusterDescription> clusters_of(const PredictOptions& options) {
  std::vector<ClusterDescription> clusters;
  for (const auto& name : options.clusters) clusters.push_back(load_cluster_description(name));
  if (clusters.empty()) {
    clusters.push_back(options.wire.empty() ? load_cluster_description("ethernet-10g")
                                            : cluster_of_wire(options.wire));
  }
  return clusters;
}

std::vector<int> cluster_ranks_of(const PredictOptions& options) {
  return ranks_from(options.ranks.empty() ? "1..8" : options.ranks);
}

double step_deadline(const PredictOptions& options) {
  return now_seconds() + duration_seconds(options.step_budget);
}

SimulatedTrainingOptions training_of(const PredictOptions& options) {
  SimulatedTrainingOptions training;
  training.batch = options.batch;
  training.scheme = entry_of_words("distributed optimizer", options.scheme);
  choose_network_model(training, options.engine, ClusterDescription{});
  SimulationOptions& simulation = training.simulation;
  if (!options.wire.empty()) {  // a modelled wire sends eagerly: no message waits for its receive
    simulation.eager_bytes = std::numeric_limits<std::int64_t>::max();
  }
  simulation.limit(options.budget);
  training.every_rank = options.every_rank;
  if (!options.map.empty()) {
    training.map = std::make_shared<const ContentionMap>(
        read_results(options.map), options.force ? Misfit::mistrust : Misfit::refuse);
  }
  return training;
}

std::string strategies_help() {
  std::string lines;
  for (const std::string& name : prediction_strategies().names()) {
    lines += fmt::format("  {:<17} {}\n", name, prediction_strategies().at(name).summary());
  }
  return lines;
}

std::vector<EntryChoice> strategies_of(const std::string& words) {
  std::vector<EntryChoice> chain;
  std::istringstream stream(words);
  for (std::string word; std::getline(stream, word, ',');) {
    chain.push_back(entry_of_words("prediction strategy", word));
  }
  return chain;
}

LocalCommands local_commands(const PredictOptions& options) {
  const std::string program = own_command().front();
  std::vector<std::string> training = {options.model, "--quiet",
                                       "--threads",   std::to_string(threads()),
                                       "--framework", options.frameworks.front(),
                                       "--device",    options.device,
                                       "--optimizer", options.optimizer};
  for (const std::string& place : options.places) {
    training.insert(training.end(), {"--place", place});
  }
  for (const std::string& library : options.load) {
    training.insert(training.end(), {"--load", library});
  }
  const std::string batches = profiled_batches(options);
  LocalCommands commands{.profile = {program, "profile"},
                         .calibrate = {program, "cluster", "calibrate", "--quiet"},
                         .measure = {program, "predict"},
                         .keep = options.keep,
                         .profile_name = fmt::format("{}-batch-{}", options.model, batches),
                         .launches = options.launches,
                         .threads = threads(),
                         .misfit = options.force ? Misfit::mistrust : Misfit::refuse};
  for (auto* words : {&commands.profile, &commands.measure}) {
    words->insert(words->end(), training.begin(), training.end());
  }
  commands.profile.insert(
      commands.profile.end(),
      {"--batch", batches, "--steps", std::to_string(std::max(kProfiledSteps, options.steps)),
       "--budget", options.step_budget, "--least-time", options.least_time, "--launches",
       std::to_string(options.launches)});
  const std::int64_t steps = steps_of_launch(options.steps, options.launches);
  commands.measure.insert(
      commands.measure.end(),
      {"--batch", std::to_string(options.batch), "--steps", std::to_string(steps), "--step-budget",
       part_of_launch(options.step_budget, options.launches), "--least-time",
       part_of_launch(options.least_time, options.launches), "--launches",
       std::to_string(options.launches), "--measure-here", "--distributed", options.scheme});
  if (options.strong) commands.measure.emplace_back("--strong");
  if (!options.wire.empty()) {
    for (auto* words : {&commands.calibrate, &commands.measure}) {
      words->insert(words->end(), {"--wire", options.wire});
    }
    commands.cluster_name += ", " + cluster_of_wire(options.wire).name;
  }
  return commands;
}

}  // namespace d5::app
