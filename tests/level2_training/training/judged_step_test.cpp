// SPDX-License-Identifier: Apache-2.0
// A time of a training step counts if outputs, gradients and the update were right.
#include <catch2/catch.hpp>

#include "d5/level2_training/training/training_step_bench.hpp"
#include "tests/cache_folder.hpp"
#include "tests/level1_network/planted_faults.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using Catch::Contains;

namespace {

std::vector<Measurement> bench(const std::vector<std::string>& words) {
  planted::use_framework();
  return bench_training_step("lenet", {.frameworks = words,
                                       .sizes = {.batch = 2},
                                       .metrics = {"time"},
                                       .measuring = {.samples = 3}});
}

}  // namespace

TEST_CASE("a training step is judged by its outputs, its gradients and one update") {
  const testing::OwnCacheFolder cache;
  const auto records = bench({"reference", "planted:honest", "planted:wrong-gradient"});
  for (const auto& record : records) {
    CAPTURE(record.framework, record.metric, record.reason);
    const bool is_wrong = record.framework == "planted:wrong-gradient";
    CHECK(record.conditions.at("answers") == (is_wrong ? "wrong" : "right"));
    if (!is_wrong || record.metric != "time") continue;
    CHECK(record.status == Status::failed);
    CHECK_THAT(record.reason, Contains("gradient of "));
    CHECK_THAT(record.reason, Contains("tensors more"));  // and what the update made of it
  }
}

TEST_CASE("being judged changes no parameter") {
  const testing::OwnCacheFolder cache;
  planted::use_framework();
  const Subject subject = training_step_subject("lenet", "planted:honest");
  REQUIRE(subject.judge);
  // Judged twice, the second time by what was kept of the first: a changed weight would show.
  CHECK(subject.judge(Subject::Moment::before).is == Verdict::Is::right);
  CHECK(subject.judge(Subject::Moment::after).is == Verdict::Is::right);
}

TEST_CASE("a network of one's own is timed with the loss that is asked for") {
  const testing::OwnCacheFolder cache;
  const testing::TemporaryFolder folder;
  Network network("own");
  network.add_input("x", DType::float32, {"N", 5});
  network.add_parameter("w", Tensor::of<float>({5, 2}, {1, 2, 3, 4, 5, -1, -2, -3, -4, -5}));
  network.add_node("MatMul", {"x", "w"}, {"scores"});
  network.add_output("scores");
  const std::string file = folder / "own.onnx";
  network.save(file);
  NetworkBenchOptions options{
      .sizes = {.batch = 3}, .metrics = {"time"}, .measuring = {.samples = 3}};
  for (const char* loss : {"cross_entropy", "mse", "bce"}) {
    CAPTURE(loss);
    const auto records = bench_training_step(file, options, loss);
    REQUIRE_FALSE(records.empty());
    CAPTURE(records[0].reason);
    CHECK(records[0].conditions.at("answers") == "right");
    CHECK_THAT(records[0].command, Contains(" --training --loss " + std::string(loss)));
    CHECK(plan_training_step(file, options, loss).front().status == Status::skipped);
  }
  const auto without = bench_training_step(file, options);
  CHECK(without.front().status == Status::unsupported);
  CHECK_THAT(without.front().reason, Contains("cross_entropy"));
  const auto twice = bench_training_step("lenet", options, "cross_entropy");
  CHECK(twice.front().status == Status::failed);
  CHECK_THAT(twice.front().reason, Contains("'loss' already"));
}
