// SPDX-License-Identifier: Apache-2.0
// Ctrl-C ends a command within its piece of work, not after it.
#include <csignal>

#include "d5/core/results/results.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "tests/apps/background_run.hpp"
#include "tests/apps/training_job.hpp"

using namespace d5;
using Catch::Contains;
using d5::testing::BackgroundRun;
using d5::testing::content_of;
using testing::TemporaryFolder;

namespace {

/// Interrupts a run when its rows tell `row`, and returns its rows.
std::string interrupted(const std::string& arguments, const std::string& row) {
  const TemporaryFolder folder;
  const std::string printed = folder / "printed";
  const int status = BackgroundRun(arguments + " --quiet", printed).end(SIGINT, [&] {
    return content_of(printed).find(row) != std::string::npos;
  });
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 130);
  return content_of(printed);
}

}  // namespace

TEST_CASE("Ctrl-C ends a check of an operator between two runs") {
  // The gradient of each of 40 inputs takes 20 runs of 40 x 250,000 additions.
  std::string line = "Sum";
  for (int i = 0; i < 40; ++i) line += " 500x500";
  const std::string rows = interrupted("op check 'Relu 8' '" + line + "'", "Relu 8");
  CHECK_THAT(rows, !Contains("gradient of input 39"));
}

TEST_CASE("Ctrl-C ends a check of a network between two operators") {
  // Forward and backward in float32, in float64, and again with rounded numbers.
  const std::string rows = interrupted("net check lenet resnet-50", "lenet");
  CHECK_THAT(rows, !Contains("resnet-50"));
}

TEST_CASE("Ctrl-C ends a measurement between two samples, and they are printed and written") {
  const TemporaryFolder folder;
  const std::string out = folder / "cut.json", printed = folder / "printed";
  // Ten million samples of 0.1 ms would take the minute that is the limit.
  const BackgroundRun run(
      "op bench 'Gemm 64x64 64x64' --pass forward --samples 10000000 --quiet "
      "--most-seconds 60 --out " +
          out,
      printed);
  const int status = run.end(SIGINT, [&] {
    if (!std::filesystem::exists(out + ".journal")) return false;  // it begins now
    std::this_thread::sleep_for(std::chrono::seconds(1));
    return true;
  });
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 130);
  const Results results = read_results(out);
  REQUIRE_FALSE(results.measurements.empty());
  const Measurement& time = results.measurements.front();
  CHECK(time.status == Status::mistrusted);
  CHECK_THAT(time.reason, Contains("interrupted"));
  CHECK(time.samples.size() < 10'000'000);
  CHECK_THAT(content_of(printed), Contains("interrupted"));
}

TEST_CASE("Ctrl-C ends ranks after one batch: it is printed and written, and training goes on") {
  if (!transport().present) return;
  const auto [launcher, signal] =
      GENERATE(table<std::string, int>({{"", SIGINT}, {"mpirun --oversubscribe -np 2", SIGUSR1}}));
  const std::string scheme = GENERATE("consistent_decentralized:exchange=sharded", "hogwild");
  const testing::TrainingJob job(
      {.dataset = ", train_samples: 96, test_samples: 10",
       .training = "epochs: 1000000, most_batches: 0, test_every: 1000000"});
  const std::string printed = job / "printed", checkpoint = job / "ck";
  const std::string options = " --distributed " + scheme + " --checkpoint " + checkpoint;
  const std::string begin = launcher.empty() ? " --ranks 2" : "";
  const auto train = job.train("cut.json") + options + begin + " --checkpoint-every 1 --save " +
                     (job / "net.onnx");
  const BackgroundRun run(train, printed, launcher);
  const int status =
      run.end(signal, [&] { return std::filesystem::exists(checkpoint + ".rank-1"); });
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 130);
  CHECK_THAT(content_of(printed), Contains("interrupted"));
  CHECK(std::filesystem::exists(job / "net.onnx"));
  std::string steps;
  for (const Measurement& record : read_results(job / "cut.json").measurements) {
    CHECK((record.status == Status::mistrusted || record.status == Status::skipped));
    steps = record.conditions.at("steps").text();
  }
  // One more step makes what four are in one go.
  const std::string limit =
      " --set training.most_batches=" + std::to_string(std::stoll(steps) + 1) + " --ranks 2";
  const auto losses = [&](const std::string& more, const std::string& out) {
    const auto again = testing::run_d5(job.train(out) + more + limit + " --distributed " + scheme);
    INFO(again.err);
    REQUIRE(again.status == 0);
    for (const Measurement& record : read_results(job / out).measurements) {
      if (record.metric == "loss") return record.samples;
    }
    return std::vector<double>{};
  };
  const auto resumed = losses(" --resume --checkpoint " + checkpoint, "resumed.json");
  CHECK(resumed.size() == std::size_t(std::stoll(steps)) + 1);
  if (scheme != "hogwild") CHECK(resumed == losses("", "whole.json"));
}

TEST_CASE("a second Ctrl-C ends ranks that d5 started at once") {
  if (!transport().present) return;
  const testing::TrainingJob job({.training = "epochs: 1000000"});
  const std::string printed = job / "printed", checkpoint = job / "ck";
  // A rank that waits a minute comes to no batch where all could end.
  const BackgroundRun run(job.train("cut.json") + " --ranks 2 --checkpoint " + checkpoint +
                              " --checkpoint-every 1 --fault delay:rank=1,step=3,seconds=60",
                          printed);
  const auto begin = std::chrono::steady_clock::now();
  const int status = run.end(SIGINT, [&] {
    if (!std::filesystem::exists(checkpoint + ".rank-1")) return false;
    std::this_thread::sleep_for(std::chrono::seconds(1));
    kill(run.process(), SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    return true;
  });
  CHECK(WEXITSTATUS(status) == 130);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(50));
}

TEST_CASE("a rank that is killed ends the others, which d5 started, with a word") {
  if (!transport().present) return;
  const testing::TrainingJob job;
  const auto run = testing::run_d5(job.train("no.json") + " --ranks 2 --fault kill:rank=1,step=3");
  CHECK(run.status == 128 + SIGKILL);
  CHECK_THAT(run.err, Contains("rank 1 with PID") && Contains("signal 9"));
}
