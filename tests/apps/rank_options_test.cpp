// SPDX-License-Identifier: Apache-2.0
// Options of `d5 train` for the calls between ranks.
#include <catch2/catch.hpp>
#include <string>

#include "d5/core/results/results.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "tests/apps/training_job.hpp"

using namespace d5;
using testing::kMpirun, testing::run_d5, testing::TrainingJob;

TEST_CASE("a record says that its wires were modelled, and its command models them again") {
  if (!transport().present) return;
  const TrainingJob job;
  const auto run = run_d5(
      job.train("first.json") + " --wire 100us,8Gbit/s --check-calls --check-ranks 2", kMpirun);
  INFO(run.err);
  REQUIRE(run.status == 0);
  for (const auto& record : read_results(job / "first.json").measurements) {
    CHECK_THAT(record.conditions.at("wire").text(), Catch::StartsWith("modelled 100us,1GB/s"));
    CHECK_THAT(record.command, Catch::Contains("--wire 100us,1GB/s --check-calls --check-ranks 2"));
  }
}

TEST_CASE("a rank that hangs is named with call and step, and the job ends with status 1") {
  if (!transport().present) return;
  const TrainingJob job;
  const auto run = run_d5(job.train("no.json") + " --timeout 1s --fault hang:rank=1,step=3" +
                              " --distributed consistent_decentralized:all_reduce=mpi",
                          kMpirun);
  CHECK(run.status == 1);
  CHECK_THAT(run.err, Catch::Contains("1s are over in all_reduce number") &&
                          Catch::Contains("at training step 3; not there: rank 1"));
}

TEST_CASE("a worker that dies under an asynchronous scheme ends the job, which says who") {
  if (!transport().present) return;
  const TrainingJob job;
  const auto [scheme, ranks] = GENERATE(table<std::string, std::string>({
      {"inconsistent_centralized", "3"},
      {"stale_synchronous", "3"},
      {"asynchronous_neighbors", "2"},
  }));
  const auto run =
      run_d5(job.train("no.json") + " --fault kill:rank=1,step=3 --distributed " + scheme,
             "timeout 60 mpirun --oversubscribe -np " + ranks);
  INFO(scheme << ": " << run.err);
  CHECK(run.status != 0);
  CHECK(run.status != 124);                                           // nobody waits for it
  CHECK_THAT(run.err + run.out, Catch::Contains("rank 1 with PID"));  // mpirun's words
}

TEST_CASE("a hogwild worker that is killed between two meetings ends the job, too") {
  if (!transport().present) return;
  const TrainingJob job({.training = "epochs: 1000000, most_batches: 0"});
  // It dies at any place of a step, outside calls, and gives no notice.
  const std::string train = job.train("no.json") + " --distributed hogwild";
  const auto run = run_d5(train + " : -np 1 timeout -s KILL 5 " D5_PROGRAM " " + train,
                          "timeout 60 mpirun --oversubscribe -np 1");
  INFO(run.err);
  CHECK(run.status != 0);
  CHECK(run.status != 124);
  CHECK_THAT(run.err + run.out, Catch::Contains("rank 1 with PID"));
}

TEST_CASE("an option of one rank alone is named on every rank, with what each was given") {
  if (!transport().present) return;
  const TrainingJob job;
  const auto [first, second, words] = GENERATE(table<std::string, std::string, std::string>({
      {"", " --check-ranks 2", "--check-ranks: 2 at rank 1, not set at rank 0"},
      {" --trace /nowhere/t.json", "", "--trace: /nowhere/t.json at rank 0, not set at rank 1"},
      {" --save a.onnx", " --save b.onnx", "--save: a.onnx at rank 0, b.onnx at rank 1"},
      {" --loader-threads 1 --repeat 2", " --loader-threads 2",
       "--loader-threads: 1 at rank 0, 2 at rank 1; --repeat: 2 at rank 0, not set at rank 1"},
      {" --check-calls", "", "--check-calls: given at rank 0, not set at rank 1"},
      {" --set training.epochs=2", " --set training.epochs=3", "training.epochs=2 at rank 0"},
  }));
  const auto run = run_d5(
      job.train("no.json") + first + " : -np 1 " D5_PROGRAM " " + job.train("no.json") + second,
      "timeout 60 mpirun --oversubscribe -np 1");
  INFO(run.err);
  CHECK(run.status == 1);
  for (const std::string rank : {"rank 0", "rank 1"}) {
    CHECK_THAT(run.err, Catch::Contains(rank + ": the ranks were started differently: "));
  }
  CHECK_THAT(run.err, Catch::Contains(words));
}

TEST_CASE("ranks of one recipe in files of other names train, and of other recipes are refused") {
  if (!transport().present) return;
  const TrainingJob one, same, other({.training = "epochs: 1, most_batches: 7"});
  const auto beside = [&](const TrainingJob& second) {
    return run_d5("train " + one.recipe() + " --quiet : -np 1 " D5_PROGRAM " train " +
                      second.recipe() + " --quiet",
                  "timeout 60 mpirun --oversubscribe -np 1");
  };
  CHECK(beside(same).status == 0);
  const auto refused = beside(other);
  INFO(refused.err);
  CHECK(refused.status == 1);
  CHECK_THAT(refused.err, Catch::Contains("training.most_batches: 6 at rank 0, 7 at rank 1"));
}

TEST_CASE("another command beside is refused on every rank") {
  if (!transport().present) return;
  const TrainingJob job;
  const auto run = run_d5(job.train("no.json") + " : -np 1 " D5_PROGRAM " all-reduce bench 16",
                          "timeout 60 mpirun --oversubscribe -np 1");
  CHECK(run.status == 1);
  CHECK_THAT(run.err,
             Catch::Contains("command: d5 all-reduce bench at rank 1, d5 train at rank 0"));
}

TEST_CASE("a thread that moves calls on changes no bit of what is learnt, and is in the record") {
  if (!transport().present) return;
  const TrainingJob job;
  const auto losses = [&](const std::string& options) {
    const auto run = run_d5(
        job.train("out.json") + " --distributed consistent_decentralized:all_reduce=ring" + options,
        kMpirun);
    INFO(run.err);
    REQUIRE(run.status == 0);
    for (const auto& record : read_results(job / "out.json").measurements) {
      CHECK(record.conditions.contains("progress") == !options.empty());
      if (record.metric == "loss") return record.samples;
    }
    return std::vector<double>{};
  };
  const auto polled = losses("");
  CHECK_FALSE(polled.empty());
  CHECK(losses(" --progress thread") == polled);
}

TEST_CASE("a fault at a rank that is not there is a wrong use") {
  if (!transport().present) return;
  const TrainingJob job;
  const auto run = run_d5(job.train("no.json") + " --fault kill:rank=2,step=1", kMpirun);
  CHECK(run.status == 2);
  CHECK_THAT(run.err, Catch::Contains("there is no rank 2; the ranks are 0 to 1"));
}

TEST_CASE("words that say no wire, time, fault or number are refused with what would") {
  const TrainingJob job;
  const auto [option, example] = GENERATE(table<std::string, std::string>({
      {"--wire fast", "50us,1GB/s"},
      {"--wire -1us,1GB/s", "50us,1GB/s"},
      {"--timeout -1s", "10s"},
      {"--timeout 0s", "10s"},
      {"--timeout soon", "10s"},
      {"--fault kill", "rank=1"},
      {"--fault kill:rank=1,step=0", "step from 1"},
      {"--fault burn:rank=1,step=1", "kill, hang, delay or nan"},
      {"--check-ranks -1", "an integer >= 0"},
  }));
  const auto run = run_d5(job.train("no.json") + " " + option);
  INFO(option << ": " << run.err);
  CHECK(run.status == 2);
  CHECK_THAT(run.err, Catch::Contains(example));
}

TEST_CASE("MPI's own bytes are in the record where they were asked for, and else the reason") {
  if (!transport().present) return;
  const TrainingJob job;
  const bool asked = GENERATE(false, true);
  const std::string file = asked ? "asked.json" : "not.json";
  // The usual all-reduce may be one that calls no collective of MPI's.
  const std::string options = " --distributed consistent_decentralized:all_reduce=mpi" +
                              std::string(asked ? " --mpi-bytes" : "");
  const auto run = run_d5(job.train(file) + options, kMpirun);
  INFO(run.err);
  REQUIRE(run.status == 0);
  int volumes = 0;
  for (const auto& record : read_results(job / file).measurements) {
    CHECK((record.command.find("--mpi-bytes") != std::string::npos) == asked);
    if (record.metric != "communication_volume") continue;
    ++volumes;
    if (asked) {
      CHECK(record.conditions.at("library_sent.bytes").number().value() > 0);
    } else {
      CHECK_THAT(record.conditions.at("library_sent.unknown").text(),
                 Catch::Contains("--mpi-bytes"));
    }
  }
  CHECK(volumes > 0);
}
