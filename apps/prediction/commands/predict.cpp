// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "apps/ctrl_c.hpp"
#include "apps/given_line.hpp"
#include "apps/prediction/predict_options.hpp"
#include "apps/prediction/predicted_trace.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/say.hpp"
#include "d5/core/clocks/clock.hpp"
#include "d5/core/entries/entry_words.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/numbers/duration.hpp"
#include "d5/core/report/plot.hpp"
#include "d5/core/results/results.hpp"
#include "d5/core/screen/progress.hpp"
#include "d5/core/screen/screen.hpp"
#include "d5/level3_distributed/decorators/wire_model.hpp"
#include "d5/level3_distributed/launching/rank_launch.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"
#include "d5/level3_distributed/schemes/distributed_training.hpp"
#include "d5/level3_distributed/schemes/traced_run.hpp"
#include "d5/prediction/training/local_prediction.hpp"
#include "d5/prediction/training/measured_training.hpp"
#include "d5/prediction/training/predicted_curve.hpp"
#include "d5/prediction/training/prediction_strategy.hpp"
#include "d5/prediction/training/prediction_timeline.hpp"
#include "d5/prediction/training/scaling_prediction.hpp"

namespace d5::command {
namespace {

constexpr const char* kPredictExamples =
    R"(  d5 predict lenet --batch 32 --ranks 1..128 --cluster ethernet-10g,ethernet-25g
                                                profile the model here, and predict its scaling on
                                                two clusters
  d5 predict p.json --ranks 1..1024 --cluster my.yaml --strong --batch 1024
                                                from a profile of 'd5 profile'
  d5 predict resnet-18 --batch 16 --measure 1,2
                                                predict and measure ranks on this machine;
                                                --wire 50us,100MB/s delays messages
  d5 predict p.json --ranks 64 --strategy buckets:bytes=1MiB,compute:factor=2 \
      --strategy wire:bandwidth=2
                                                three curves: as it is, with other buckets on a
                                                faster machine, and with a faster network
  d5 predict p.json --ranks 1..4096 --model formula --cluster large.yaml
                                                closed forms, at once, without contention
  d5 predict lenet --distributed consistent_decentralized:all_reduce=ring:bucket_bytes=65536
  d5 predict resnet.0.et --ranks 8,64 --cluster h100-pod --strategy compute:factor=2 --graph new.0.et
                                                replay another program's execution trace (Chakra)
                                                on a cluster, on machines twice as fast, and write
                                                the trace that it would have

Each rank is simulated: scheme, buckets and collective run their real code, in virtual time.
Clusters: 'd5 cluster list'. Strategies, whose options 'd5 list prediction-strategies NAME' shows:
)";

ProfileOptions profile_options(const app::PredictOptions& options) {
  return {.batches = {options.batch},
          .steps = options.steps,
          .least_seconds = duration_seconds(options.least_time),
          .launches = options.launches,
          .optimizer = options.optimizer};
}

/// Measures on the ranks that a launcher has started. A trace slows steps down, so fewer steps are
/// traced.
int measure_here(const app::PredictOptions& options) {
  constexpr std::int64_t kTraced = 5;
  if (options.threads == 0) share_threads();
  std::shared_ptr<Communicator> ranks = world();
  if (ranks->rank() != 0) Progress::set_quiet(true);
  pin_threads(ranks->rank() * threads());
  if (!options.wire.empty()) ranks = std::make_shared<WireModel>(ranks, wire_of(options.wire));
  ProfileOptions how = profile_options(options);
  if (!options.trace.empty()) {
    how.steps = std::min(how.steps, kTraced);
    how.least_seconds = 0;
  }
  if (options.strong) how.batches = {std::max<std::int64_t>(1, options.batch / ranks->size())};
  how.interrupt.deadline = app::step_deadline(options);
  Progress progress("steps", how.steps + how.warm_up);
  how.on_step = [&](std::int64_t) { progress.advance(); };
  std::vector<double> seconds;
  run_traced({.path = options.trace, .who = app::kTraceOption}, ranks, [&] {
    seconds = measure_steps(options.model, options.frameworks.front(),
                            entry_of_words("distributed optimizer", options.scheme), how,
                            app::execution_of(options, options), ranks);
  });
  if (ranks->rank() != 0) return 0;
  Measurement record{.subject = options.model,
                     .level = "distributed",
                     .framework = options.frameworks.front(),
                     .metric = "time",
                     .unit = "s",
                     .samples = seconds,
                     .conditions = {{"ranks", identity(ranks->size())}}};
  return app::publish({record}, options);
}

ScalingPredictionOptions scaling_of(const app::PredictOptions& options,
                                    const SimulatedTrainingOptions& training,
                                    std::vector<int> ranks) {
  return {.ranks = std::move(ranks),
          .scaling = options.strong ? PredictedScaling::strong : PredictedScaling::weak,
          .what_helps = options.what_helps,
          .training = training,
          .interrupt = app::ctrl_c()};
}

/// The training with the network model that is asked for, or that knows the cluster's topology.
SimulatedTrainingOptions on_cluster(const app::PredictOptions& options,
                                    SimulatedTrainingOptions training,
                                    const ClusterDescription& cluster) {
  choose_network_model(training, options.engine, cluster);
  return training;
}

/// Predicts for each cluster, as it is and with each strategy.
void predict_clusters(const app::PredictOptions& options, const TrainingProfile& profile,
                      const SimulatedTrainingOptions& training,
                      std::vector<PredictedCurve>& curves) {
  std::vector<std::pair<std::string, PlannedTraining>> plans;
  for (const ClusterDescription& cluster : app::clusters_of(options)) {
    const SimulatedTrainingOptions here = on_cluster(options, training, cluster);
    plans.push_back({"", {here, cluster}});
    for (const std::string& words : options.strategies) {
      plans.push_back({words, {here, cluster}});
      apply_strategies(app::strategies_of(words), plans.back().second);
    }
  }
  ScalingPredictionOptions how = scaling_of(options, training, app::cluster_ranks_of(options));
  Progress progress("predict", static_cast<std::int64_t>(how.ranks.size() * plans.size()));
  constexpr double kSlow = 1;  // s; slow rows are printed when they are done, besides the table
  double begin = now_seconds();
  how.on_point = [&](const PredictedPoint& point) {
    progress.note(fmt::format("{} ranks", point.ranks));
    progress.advance();
    if (!options.quiet && now_seconds() - begin > kSlow) {
      app::say(fmt::format("{} on {} ranks: a step of {}", curves.back().cluster, point.ranks,
                           with_prefix(point.step, "s")));
    }
    begin = now_seconds();
  };
  how.on_left_out = [&](const std::string& what) { curves.back().left_out = what; };
  for (const auto& [words, plan] : plans) {
    how.training = plan.training;
    curves.push_back({.model = profile.model,
                      .framework = profile.framework,
                      .device = profile.device,
                      .cluster = plan.cluster.name,
                      .strategy = words});
    curves.back().points = predict_scaling(profile, plan.cluster, how);
    if (how.interrupt.due()) break;
  }
}

/// Checks the clusters before minutes are spent on this machine's own ranks.
void expect_clusters(const app::PredictOptions& options) {
  (void)app::clusters_of(options);
  ScalingPredictionOptions how;
  how.training.batch = options.batch;
  if (options.strong) how.scaling = PredictedScaling::strong;
  for (const int ranks : app::cluster_ranks_of(options)) (void)batch_of_rank(how, ranks);
}

void publish_curves(const app::PredictOptions& options, const std::vector<PredictedCurve>& curves) {
  auto records = prediction_records(curves);
  for (Measurement& record : records) record.command = app::given_line();
  if (!options.pictures.empty()) {
    std::filesystem::create_directories(options.pictures);
    const auto file = std::filesystem::path(options.pictures) / "prediction";
    const Plot plot = prediction_plot(curves);
    write_file(file.string() + ".svg", to_svg(plot));
    try {
      write_file(file.string() + ".png", to_png(plot));
    } catch (const Unsupported& error) {
      app::say(fmt::format("no PNG: {}", error.what()));
    }
  }
  if (!options.out.empty()) {
    write_results({environment(), records}, options.out);
    app::say_written(options);
  }
  if (options.format != Format::table && options.format != Format::markdown) {
    return app::print(Results{environment(), records}, options);
  }
  const int width = screen_of(STDOUT_FILENO).width;
  app::print(prediction_text(curves, options.format, width), options.format);
}

/// Writes a trace of the measured ranks beside their prediction; without measured ranks, of the
/// prediction on the first cluster.
void write_trace(const app::PredictOptions& options, const TrainingProfile& profile,
                 const SimulatedTrainingOptions& training, const LocalRanks& here) {
  const bool measured = !options.measure.empty();
  const auto how = scaling_of(
      options,
      measured ? training : on_cluster(options, training, app::clusters_of(options).front()),
      measured ? ranks_from(options.measure) : app::cluster_ranks_of(options));
  write_timeline(measured ? timeline_here(here, how)
                          : predicted_timeline(profile, app::clusters_of(options).front(), how),
                 options.trace);
  if (!options.quiet) app::say("the trace is written to " + printable(options.trace));
}

/// Writes the graph that predicts rank 0's step for the last cluster, strategy and number of ranks.
void write_last_graph(const app::PredictOptions& options, const TrainingProfile& profile,
                      const SimulatedTrainingOptions& training) {
  PlannedTraining plan{training, app::clusters_of(options).back()};
  if (!options.strategies.empty()) {
    apply_strategies(app::strategies_of(options.strategies.back()), plan);
  }
  const int ranks = app::cluster_ranks_of(options).back();
  plan.training.batch = batch_of_rank(scaling_of(options, plan.training, {ranks}), ranks);
  PlannedGraph planned = planned_graph(profile, ranks, plan.cluster, plan.training);
  price(planned.graph, planned.cost);
  app::write_graph({.graph = std::move(planned.graph)}, options.graph);
}

/// Refuses options of a model's profile beside a profile that was made before.
void expect_of_model(const app::PredictOptions& options, const TrainingProfile& profile) {
  const app::PredictOptions usual;
  std::vector<std::string> given;
  if (options.optimizer != usual.optimizer) given.emplace_back("--optimizer");
  if (options.frameworks != usual.frameworks) given.emplace_back("--framework");
  if (options.threads != usual.threads) given.emplace_back("--threads");
  if (given.empty()) return;
  throw ValueError(fmt::format(
      "predict: {} beside the profile '{}', which was made with {} on {} threads; leave it out, or "
      "make another profile with 'd5 profile'",
      fmt::join(given, ", "), printable(options.model), printable(profile.framework),
      profile.threads));
}

int run_predict(app::PredictOptions options, bool is_child) {
  app::apply(options);
  if (!options.wire.empty() && !options.clusters.empty() && options.measure.empty()) {
    throw ValueError(
        "predict: --wire and --cluster each describe the network between ranks; leave one out");
  }
  if (options.is_of_trace()) {
    publish_curves(options, app::predict_trace(options));
    return 0;
  }
  TrainingProfile profile;
  if (options.is_of_profile()) {
    profile = read_training_profile(options.model);
    expect_of_model(options, profile);
  }
  if (options.batch == 0) {
    options.batch = options.is_of_profile() ? only_batch(profile) : usual_batch(options.model);
  }
  if (is_launched() || is_child) return measure_here(options);
  if (!options.is_of_profile()) set_threads(options.threads > 0 ? options.threads : 1);
  for (const std::string& words : options.strategies) {
    PlannedTraining nothing;  // finds unknown names before anything runs
    apply_strategies(app::strategies_of(words), nothing);
  }
  if (!options.measure.empty() && options.is_of_profile()) {
    throw ValueError("predict: --measure trains, and needs the model itself instead of a profile");
  }
  if (options.engine == "formula" && !options.trace.empty()) {
    throw ValueError(
        "predict: --trace draws simulated ranks, and --model formula simulates none; leave one "
        "out");
  }
  if (!options.measure.empty() && !options.strategies.empty() && options.ranks.empty()) {
    throw ValueError(
        "predict: --measure trains on this machine without strategies; give --ranks of a cluster "
        "for --strategy");
  }
  if (!options.graph.empty()) {
    if (!options.measure.empty() && options.ranks.empty() && options.clusters.empty()) {
      throw ValueError(
          "predict: --graph is of a cluster, and --measure alone predicts this machine; give "
          "--ranks of a cluster");
    }
    check_writable(options.graph);
  }
  const SimulatedTrainingOptions training = app::training_of(options);
  LocalCommands commands = app::local_commands(options);
  if (!options.quiet) commands.say = [](const std::string& line) { app::say(line); };
  const LocalRanks here = launched_ranks(commands, app::ctrl_c());
  std::vector<PredictedCurve> curves;
  const bool measures = !options.measure.empty();
  const bool asks_clusters = !measures || !options.ranks.empty() || !options.clusters.empty();
  if (asks_clusters) expect_clusters(options);
  std::optional<PredictedCurve> local;
  if (measures) {  // first, because it makes a profile of one rank, too, in turns with the measured
                   // steps
    local = predict_here(here, scaling_of(options, training, ranks_from(options.measure)));
  }
  if (asks_clusters) {
    if (!options.is_of_profile()) profile = profile_here(here, 1, app::ctrl_c());
    predict_clusters(options, profile, training, curves);
    if (!options.graph.empty()) write_last_graph(options, profile, training);
  }
  if (local) curves.push_back(std::move(*local));
  if (!options.trace.empty()) write_trace(options, profile, training, here);
  publish_curves(options, curves);
  return 0;
}

}  // namespace

void register_predict(app::Program& program) {
  auto options = std::make_shared<app::PredictOptions>();
  auto is_child = std::make_shared<bool>(false);
  auto& command = program.add("predict", "predict training's scaling on a cluster from a profile",
                              kPredictExamples + app::strategies_help(),
                              [=] { return run_predict(*options, *is_child); });
  app::add_predict_options(command, *options, *is_child);
  program.writes_own_trace(command);
}

}  // namespace d5::command
