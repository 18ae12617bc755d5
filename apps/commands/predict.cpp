// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "apps/ctrl_c.hpp"
#include "apps/execution_options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/value_checks.hpp"
#include "d5/core/atomic_file.hpp"
#include "d5/core/entry_words.hpp"
#include "d5/core/error.hpp"
#include "d5/core/plot.hpp"
#include "d5/core/progress.hpp"
#include "d5/core/results.hpp"
#include "d5/core/threads.hpp"
#include "d5/level3_distributed/distributed_optimizer.hpp"
#include "d5/level3_distributed/distributed_training.hpp"
#include "d5/level3_distributed/rank_launch.hpp"
#include "d5/level3_distributed/wire_model.hpp"
#include "d5/prediction/measured_training.hpp"
#include "d5/prediction/prediction_strategy.hpp"
#include "d5/prediction/scaling_prediction.hpp"

namespace d5::command {
namespace {

constexpr const char* kPredictExamples =
    R"(  d5 predict lenet --batch 32 --ranks 1..128 --network ethernet-10g
                                                profiles it here, and tells a cluster's curve
  d5 predict p.json --ranks 1..1024 --network my.yaml --scaling strong --batch 1024
                                                of a profile of 'd5 profile'
  d5 predict resnet-18 --batch 16 --ranks 1,2 --wire 50us,100MB/s --measure 1,2
                                                on this machine with a modelled wire, beside what
                                                training there takes
  d5 predict p.json --ranks 64 --strategy buckets:bytes=1048576,compute:factor=2
                                                with other messages, on a faster machine
  d5 predict lenet --distributed consistent_decentralized:all_reduce=ring:bucket_bytes=65536

Each rank is simulated: the scheme, its buckets and its collective run as they are, in virtual time.
Networks: 'd5 network list'.)";

struct PredictCommand : app::OutputOptions, app::RunOptions, app::ExecutionOptions {
  std::string model, ranks = "1..8", network = "ethernet-10g", wire, measure, pictures;
  std::string scheme = "consistent_decentralized:all_reduce=ring";
  std::string optimizer = "sgd:learning_rate=1e-12";
  std::vector<std::string> strategies;
  std::int64_t batch = 16, steps = 30;
  bool strong = false;
};

NetworkDescription network_of(const PredictCommand& options) {
  if (options.wire.empty()) return load_network_description(options.network);
  const WireOptions wire = wire_of(options.wire);
  NetworkDescription network;
  network.name = "wire " + to_string(wire);
  network.hosts = 1'000'000;
  network.latency = {std::chrono::duration<double>(wire.latency).count(), "--wire"};
  network.bandwidth = {wire.bytes_per_second, "--wire"};
  return network;
}

ProfileOptions profile_options(const PredictCommand& options) {
  return {.batches = {options.batch}, .steps = options.steps, .optimizer = options.optimizer};
}

TrainingProfile profile_of(const PredictCommand& options) {
  if (options.model.ends_with(".json")) return read_training_profile(options.model);
  ProfileOptions how = profile_options(options);
  how.interrupt = app::ctrl_c();
  Progress progress("profile", profiled_steps(how));
  how.on_step = [&](std::int64_t) { progress.advance(); };
  const auto alone = world();
  return profile_training(options.model, options.frameworks.front(), how,
                          app::execution_of(options, options), *alone);
}

/// On the ranks that a launcher has started.
int measure_here(const PredictCommand& options) {
  if (options.threads == 0) share_threads();
  std::shared_ptr<Communicator> ranks = world();
  if (ranks->rank() != 0) Progress::set_quiet(true);
  pin_threads(ranks->rank() * threads());
  if (!options.wire.empty()) ranks = std::make_shared<WireModel>(ranks, wire_of(options.wire));
  ProfileOptions how = profile_options(options);
  if (options.strong) how.batches = {std::max<std::int64_t>(1, options.batch / ranks->size())};
  Progress progress("steps", how.steps + how.warm_up);
  how.on_step = [&](std::int64_t) { progress.advance(); };
  const auto seconds = measure_steps(options.model, options.frameworks.front(),
                                     entry_of_words("distributed optimizer", options.scheme), how,
                                     app::execution_of(options, options), ranks);
  if (ranks->rank() != 0) return 0;
  Measurement record{.subject = options.model,
                     .level = "distributed",
                     .framework = options.frameworks.front(),
                     .metric = "time",
                     .unit = "s",
                     .samples = seconds,
                     .conditions = {{"ranks", std::to_string(ranks->size())}}};
  return app::publish({record}, options);
}

/// What starts this program anew to measure as it was told to predict.
std::vector<std::string> measuring_words(const PredictCommand& options) {
  std::vector<std::string> words = {own_command().front(),
                                    "predict",
                                    options.model,
                                    "--measure-here",
                                    "--quiet",
                                    "--batch",
                                    std::to_string(options.batch),
                                    "--steps",
                                    std::to_string(options.steps),
                                    "--threads",
                                    std::to_string(threads()),
                                    "--framework",
                                    options.frameworks.front(),
                                    "--device",
                                    options.device,
                                    "--optimizer",
                                    options.optimizer,
                                    "--distributed",
                                    options.scheme};
  if (options.strong) words.emplace_back("--strong");
  if (!options.wire.empty()) words.insert(words.end(), {"--wire", options.wire});
  for (const std::string& place : options.places) words.insert(words.end(), {"--place", place});
  for (const std::string& library : options.load) words.insert(words.end(), {"--load", library});
  return words;
}

/// Trains on so many ranks, and reads what their steps took.
std::vector<double> measured_steps(int ranks, const PredictCommand& options) {
  const std::string file =
      std::filesystem::temp_directory_path() / fmt::format("d5-predict-{}.json", getpid());
  std::vector<std::string> words = measuring_words(options);
  words.insert(words.end(), {"--out", file});
  const LaunchedRun run = run_ranks(ranks, words, app::ctrl_c());
  if (run.status != 0 || !std::filesystem::exists(file)) {
    throw CommunicationError(fmt::format("predict: training on {} ranks ended with {}: {}", ranks,
                                         run.status, printable_message(run.output)));
  }
  const auto records = read_results(file).measurements;
  std::filesystem::remove(file);
  return records.at(0).samples;
}

int run_predict(const PredictCommand& options, bool is_child) {
  app::apply(options);
  if (is_launched() || is_child) return measure_here(options);
  if (!options.model.ends_with(".json")) set_threads(options.threads > 0 ? options.threads : 1);
  std::vector<EntryChoice> chain;
  for (const std::string& word : options.strategies) {
    chain.push_back(entry_of_words("prediction strategy", word));
  }
  if (!options.measure.empty() && !chain.empty()) {
    throw ValueError("predict: --measure trains on this machine as it is; leave out --strategy");
  }
  if (!options.measure.empty() && options.model.ends_with(".json")) {
    throw ValueError("predict: --measure trains, and needs the model itself in place of a profile");
  }
  PlannedTraining plan;
  plan.training.batch = options.batch;
  plan.training.scheme = entry_of_words("distributed optimizer", options.scheme);
  plan.network = network_of(options);
  apply_strategies(chain, plan);
  const NetworkDescription& network = plan.network;
  ScalingPredictionOptions how{
      .ranks = ranks_from(options.ranks),
      .scaling = options.strong ? PredictedScaling::strong : PredictedScaling::weak,
      .training = plan.training,
      .interrupt = app::ctrl_c()};
  const auto measured = options.measure.empty() ? std::vector<int>{} : ranks_from(options.measure);
  for (const int ranks : measured) {
    if (std::ranges::find(how.ranks, ranks) == how.ranks.end()) {
      throw ValueError(fmt::format("predict: --measure {} is not among --ranks", ranks));
    }
  }
  const TrainingProfile profile = profile_of(options);
  Progress progress("predict", static_cast<std::int64_t>(how.ranks.size()));
  how.on_point = [&](int ranks) {
    progress.note(fmt::format("{} ranks", ranks));
    progress.advance();
  };
  auto points = predict_scaling(profile, network, how);
  for (PredictedPoint& point : points) {
    if (std::ranges::find(measured, point.ranks) == measured.end()) continue;
    point.measured = measured_steps(point.ranks, options);
  }
  const auto records = prediction_records(points, profile, network);
  if (!options.pictures.empty()) {
    std::filesystem::create_directories(options.pictures);
    const auto file = std::filesystem::path(options.pictures) / "prediction.svg";
    write_file(file, to_svg(prediction_plot(points, profile.model + " on " + network.name)));
  }
  if (!options.out.empty()) {
    write_results({environment(), records}, options.out);
    app::say_written(options);
  }
  if (options.format == Format::json) {
    app::print(Results{environment(), records}, options);
  } else {
    app::print(prediction_table(points), options.format);
    for (const auto& reason : profile.mistrusted) {
      fmt::print(stderr, "the profile is mistrusted: {}\n", printable_message(reason));
    }
  }
  return 0;
}

}  // namespace

void register_predict(app::Program& program) {
  auto options = std::make_shared<PredictCommand>();
  auto is_child = std::make_shared<bool>(false);
  auto& command = program.add("predict", "from a profile to the scaling curve of a cluster",
                              kPredictExamples, [=] { return run_predict(*options, *is_child); });
  command
      .add_option("MODEL", options->model,
                  "a built-in network or an .onnx file with a loss, or a profile (.json)")
      ->required();
  command.add_option("--ranks,--nodes", options->ranks, "as 1,2,4 or 1..128")
      ->option_text("N,...|N..N");
  command.add_option("--batch", options->batch, "of a rank; with --strong of all together")
      ->transform(app::whole_number(1, 1'000'000))
      ->option_text("N");
  command.add_flag("--strong", options->strong, "all ranks share the batch");
  command.add_option("--network", options->network, "a file, or the name of a carried one")
      ->option_text("NAME|FILE");
  command
      .add_option("--wire", options->wire,
                  "in place of a network: a port of this latency and bandwidth at each rank")
      ->option_text("LATENCY,BANDWIDTH");
  command.add_option("--distributed", options->scheme, "a scheme and its options")
      ->option_text("NAME:KEY=VALUE...");
  command
      .add_option(
          "--strategy", options->strategies,
          "what might be otherwise, one after the other: buckets:bytes=N, compute:factor=X, "
          "wire:bandwidth=X:latency=X")
      ->delimiter(',')
      ->option_text("NAME:KEY=VALUE,...");
  command.add_option("--optimizer", options->optimizer, "that updates")
      ->option_text("NAME:KEY=VALUE...");
  command.add_option("--steps", options->steps, "that are profiled, and measured")
      ->transform(app::whole_number(2, 1'000'000))
      ->option_text("N");
  command.add_option("--measure", options->measure, "trains on so many ranks of this machine, too")
      ->option_text("N,...");
  command.add_flag("--measure-here", *is_child, "measures alone: what --measure starts")->group("");
  command.add_option("--pictures", options->pictures, "draws the curve")->option_text("DIR");
  app::add_run_options(command, *options);
  app::add_execution_options(command, *options);
  app::add_output_options(command, *options);
}

}  // namespace d5::command
