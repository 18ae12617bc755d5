// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "d5/core/errors/error.hpp"
#include "d5/core/results/results.hpp"
#include "d5/level2_training/training/checkpoint.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "tests/apps/training_job.hpp"

using namespace d5;
using Catch::Contains;
using d5::testing::run_d5;
using testing::kMpirun;
using testing::TemporaryFolder;
using testing::TrainingJob;

namespace {

const Measurement& nth_of(const Results& results, const std::string& metric, int skip = 0) {
  for (const auto& m : results.measurements) {
    if (m.metric == metric && skip-- == 0) return m;
  }
  throw NotFound("no record of " + metric);
}

}  // namespace

TEST_CASE("a planned training says what would be trained, on what, in how many bytes") {
  const auto run = run_d5("train mnist-lenet-quick --dry-run");
  CHECK(run.status == 0);
  CHECK_THAT(run.out, Contains("optimizer momentum") && Contains("batch 32") &&
                          Contains("predicted_memory") && Contains("planned, not run"));
  CHECK(run_d5("train mnist-lenet-quick --dry-run --repeat 2").status == 2);
}

TEST_CASE("training that misses what its recipe accepts ends with status 1") {
  const auto run = run_d5("train mnist-lenet-quick --set training.most_batches=2 --quiet");
  CHECK(run.status == 1);
  CHECK_THAT(run.out, Contains("test_accuracy") && Contains("failed"));
}

TEST_CASE("a training begins with the parameters that another saved") {
  const TrainingJob job;
  const std::string file = job / "net.onnx";
  REQUIRE(run_d5(job.train("first.json") + " --save " + file).status == 0);
  const auto run = run_d5(job.train("second.json") + " --init " + file);
  REQUIRE(run.status == 0);
  const Results first = read_results(job / "first.json"),
                second = read_results(job / "second.json");
  // It starts where the first one ended, not from the common beginning.
  CHECK(nth_of(second, "loss").samples.front() < nth_of(first, "loss").samples.front());
  CHECK_THAT(nth_of(second, "loss").command, Contains(" --init " + file));
}

TEST_CASE("training tells every batch's loss, and continues from a checkpoint to the same bits") {
  const TrainingJob job;
  REQUIRE(run_d5(job.train("whole.json")).status == 0);
  const std::string checkpoint = " --resume --checkpoint " + (job / "run.ckpt");
  REQUIRE(run_d5(job.train("half.json") + checkpoint + " --set training.most_batches=3").status ==
          0);
  REQUIRE(run_d5(job.train("rest.json") + checkpoint).status == 0);
  const Results whole = read_results(job / "whole.json"), rest = read_results(job / "rest.json");
  CHECK(nth_of(whole, "loss").samples.size() == 6);
  CHECK(nth_of(whole, "loss").samples == nth_of(rest, "loss").samples);
  CHECK(nth_of(whole, "test_accuracy").samples.back() ==
        nth_of(rest, "test_accuracy").samples.back());
}

TEST_CASE("repeated runs become one record a metric, and go on where they were ended") {
  const TrainingJob job;
  const auto two = run_d5(job.train("runs.json") + " --repeat 2");
  REQUIRE(two.status == 0);
  CHECK_THAT(two.out, Contains("seeds 1 to 2"));
  const Results before = read_results(job / "runs.json");
  CHECK(before.run->pieces.size() == 2);
  REQUIRE(run_d5(job.train("runs.json") + " --repeat 3 --resume").status == 0);
  const Results after = read_results(job / "runs.json");
  REQUIRE(after.run->pieces.size() == 3);
  // The times of the first run are those that were measured then.
  CHECK(nth_of(after, "batch_time").samples == nth_of(before, "batch_time").samples);
  const Measurement& joined = nth_of(after, "loss", 3);
  CHECK(joined.samples.size() == 3);
  CHECK(joined.samples[2] == nth_of(after, "loss", 2).samples.back());
  CHECK_THAT(joined.command, Contains(" --repeat 3"));
}

TEST_CASE("options that repeated runs cannot take are refused") {
  const TrainingJob job;
  const auto refusal = [&](const std::string& options) {
    const auto run = run_d5(job.train("runs.json") + options);
    CHECK(run.status == 2);
    return run.err;
  };
  CHECK_THAT(refusal(" --repeat 0"), Contains("at least 1, or auto"));
  CHECK_THAT(refusal(" --repeat often"), Contains("often"));
  CHECK_THAT(refusal(" --repeat 2 --checkpoint run.ckpt"), Contains("--out FILE"));
  REQUIRE(run_d5(job.train("runs.json") + " --repeat 1").status == 0);
  CHECK_THAT(refusal(" --repeat 2 --resume --set training.seed=5"), Contains("begun with"));
}

TEST_CASE("Ctrl-C ends training, which prints and keeps what it measured, and can go on") {
  const TemporaryFolder folder;
  const std::string checkpoint = folder / "run.ckpt", out = folder / "results.json";
  const std::string command = std::string("exec ") + D5_PROGRAM +
                              " train mnist-lenet-quick --quiet --set training.epochs=1000 "
                              "--checkpoint-every 1 --checkpoint " +
                              checkpoint + " --out " + out + " >" + (folder / "printed");
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  // Its first checkpoint shows that it trains.
  using namespace std::chrono_literals;
  for (int i = 0; i < 3000 && !std::filesystem::exists(checkpoint); ++i) {
    std::this_thread::sleep_for(10ms);
  }
  kill(child, SIGINT);
  int status = -1;
  // A thousand epochs would take half an hour.
  for (int i = 0; i < 3000 && waitpid(child, &status, WNOHANG) == 0; ++i) {
    std::this_thread::sleep_for(10ms);
  }
  const bool ended = status != -1;
  if (!ended) kill(child, SIGKILL);
  REQUIRE(ended);
  CHECK(WIFEXITED(status));
  CHECK_THAT(testing::content_of(folder / "printed"),
             Contains("mistrusted [1]") && Contains("[1] interrupted"));
  const Results results = read_results(out);
  const Measurement& loss = nth_of(results, "loss");
  CHECK(loss.status == Status::mistrusted);
  CHECK(loss.reason == "interrupted");
  CHECK_FALSE(loss.samples.empty());
  CHECK(nth_of(results, "test_accuracy").status != Status::failed);
  const auto step = static_cast<std::size_t>(read_checkpoint(checkpoint).step);
  CHECK(step == loss.samples.size());
}

TEST_CASE("two ranks train as one does, and tell their traffic") {
  if (!transport().present) return;
  const TrainingJob job;
  REQUIRE(run_d5(job.train("one.json")).status == 0);
  for (const std::string all_reduce : {"mpi", "ring"}) {
    INFO(all_reduce);
    const auto run = run_d5(
        job.train("two.json") + " --distributed consistent_decentralized:all_reduce=" + all_reduce,
        kMpirun);
    INFO(run.err);
    REQUIRE(run.status == 0);
    // Rank 0 alone prints.
    CHECK(run.out.find("communication_volume") != std::string::npos);
    CHECK(run.out.find("subject") == run.out.rfind("subject"));
    const Results one = read_results(job / "one.json"), two = read_results(job / "two.json");
    const auto &loss = nth_of(one, "loss").samples, &loss_of_two = nth_of(two, "loss").samples;
    REQUIRE(loss_of_two.size() == loss.size());
    for (std::size_t i = 0; i < loss.size(); ++i) {
      // Sums of 32 samples in another order, in float32, over 6 steps.
      CHECK(loss_of_two[i] == Approx(loss[i]).epsilon(1e-4));
    }
    for (int rank = 0; rank < 2; ++rank) {
      const Measurement& volume = nth_of(two, "communication_volume", rank);
      CHECK(volume.conditions.at("rank") == std::to_string(rank));
      // 6 steps of 61,706 gradients of 4 bytes there and back, and their padding; on two ranks a
      // ring sends as much as it is given.
      CHECK(volume.samples.front() >= 6 * 2 * 61706 * 4.0);
      CHECK(volume.samples.front() <= 6 * 2 * (61706 * 4.0 + 11 * 64));
    }
  }
}

TEST_CASE("a usage error is said once, by rank 0, and ends the job") {
  if (!transport().present) return;
  const auto run = run_d5("train no-such-recipe", kMpirun);
  CHECK(run.status == 2);
  CHECK_THAT(run.err, Contains("d5: error: rank 0: ") && !Contains("d5: error: rank 1: "));
}

TEST_CASE("a batch that the ranks cannot share is refused") {
  if (!transport().present) return;
  const auto run = run_d5("train mnist-lenet-quick --set sampler.batch_size=31 --quiet", kMpirun);
  CHECK(run.status == 2);
  CHECK_THAT(run.err, Contains("31") && Contains("--scaling weak"));
}

TEST_CASE("a recipe says how ranks work together, and the command line may change it") {
  const auto run_with = [](const std::string& section, const std::string& options = "") {
    const TrainingJob job({.sections = "  distributed: {" + section + "}\n"});
    return run_d5(job.train("out.json") + options, kMpirun);
  };
  CHECK(run_with("all_reduce: ring, bucket_bytes: 4096").status == 0);
  const auto misspelt = run_with("bucket_byte: 4096");
  CHECK(misspelt.status != 0);
  CHECK_THAT(misspelt.err, Contains("recipe.yaml:9") && Contains("did you mean bucket_bytes?"));
  CHECK_THAT(run_with("all_reduce: rings").err, Contains("did you mean ring?"));
  CHECK(run_with("all_reduce: rings", " --distributed consistent_decentralized:all_reduce=ring")
            .status == 0);
  CHECK_THAT(
      run_with("", " --set distributed.bucket_byte=1 --distributed consistent_decentralized").err,
      Contains("did you mean bucket_bytes?"));
}

TEST_CASE("a network's file beside the recipe is found from anywhere, and its output by metrics") {
  const TemporaryFolder folder, elsewhere;
  REQUIRE(run_d5("net save lenet " + (folder / "net.onnx")).status == 0);
  testing::write(folder / "own.yaml", R"(name: own
fixed:
  dataset: {name: mnist, subset: sample, train_samples: 64, test_samples: 50}
mutable:
  model: {file: net.onnx, loss: cross_entropy}
  optimizer: {name: momentum, learning_rate: 0.02}
)");
  const std::string train = "train '" + (folder / "own.yaml") +
                            "' --set training.most_batches=2 --set sampler.batch_size=16 ";
  const auto run = run_d5(train + "--metrics time_to_accuracy:target=0.01");
  CHECK(run.status == 0);
  CHECK_THAT(run.err, Contains("model.file: " + (folder / "net.onnx") + ", beside the recipe"));
  CHECK_THAT(run.out, Contains("time_to_accuracy"));
  const auto refused = run_d5(train + "--metrics time_to_accuracy:logits=scores");
  CHECK(refused.status == 2);
  CHECK_THAT(refused.err, Contains("time_to_accuracy") && Contains("logits"));
  const auto idle = run_d5(train + "--set optimizer.learning_rate=0");
  CHECK(idle.status == 1);
  CHECK_THAT(idle.out + idle.err, Contains("learning rate is 0"));
  const auto bench = run_d5("net bench '" + (folder / "net.onnx") +
                            "' --training --loss cross_entropy --samples 3 --unjudged");
  CHECK(bench.status == 0);
  CHECK_THAT(bench.out, Contains("training step"));
  CHECK(run_d5("net bench lenet --loss mse").status == 2);
}
