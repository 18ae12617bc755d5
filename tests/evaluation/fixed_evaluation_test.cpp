// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <string>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/results/environment.hpp"
#include "d5/evaluation/run/evaluate.hpp"
#include "evaluation/manifest/system_fit.hpp"
#include "tests/evaluation/toy_evaluation.hpp"

namespace d5 {
namespace {

using detail::why_unfit;

using Catch::Contains;

EvaluationManifest named_evaluation(const testing::ToyEvaluation& toy) {
  EvaluationManifest manifest;
  manifest.name = "test";
  manifest.version = "1.0.0-dev";
  manifest.models = {toy.model()};
  manifest.scenarios = {{"closed_loop"}};
  manifest.queries = 10;
  return manifest;
}

std::string system_file(const testing::ToyEvaluation& toy, const std::string& name,
                        const std::string& says) {
  write_file(toy / (name + ".yaml"),
             "kind: system\nname: " + name + "\nversion: 1.0.0-dev\n" + says);
  return toy / (name + ".yaml");
}

std::string framework_file(const testing::ToyEvaluation& toy, const std::string& says) {
  write_file(toy / "f.yaml", "kind: framework\nname: f\nversion: 1.0.0-dev\n" + says);
  return toy / "f.yaml";
}

TEST_CASE("everything that a machine lacks is named, each by itself") {
  Environment machine;
  machine.architecture = "x86_64";
  machine.instruction_sets = {"avx2"};
  machine.cores = 16;
  machine.processor_limit = 2;
  machine.memory_bytes = 64e9;
  machine.memory_limit_bytes = 8e9;
  machine.devices = {{"cuda:0", "a GPU"}};
  SystemManifest wish;
  CHECK(why_unfit(wish, machine).empty());
  wish.architecture = "x86_64";
  wish.cores = 2;
  wish.memory_bytes = 8'000'000'000;
  wish.instruction_sets = {"avx2"};
  wish.device = "cuda:0";
  wish.labels = {{"site", "x"}};
  CHECK(why_unfit(wish, machine, {{"site", "x"}}).empty());
  wish.architecture = "aarch64";
  wish.cores = 3;
  wish.memory_bytes = 8'000'000'001;
  wish.instruction_sets = {"avx2", "avx512f"};
  wish.device = "cuda:1";
  CHECK_THAT(why_unfit(wish, machine, {{"site", "y"}}),
             Contains("it is x86_64, but aarch64 is required") &&
                 Contains("it has 2 cores, but 3 are required") && Contains("of memory") &&
                 Contains("no avx512f") && !Contains("no avx2") && Contains("no device cuda:1") &&
                 Contains("no label site=x"));
}

TEST_CASE("a machine that is none of the systems skips all, with the reason") {
  const testing::ToyEvaluation toy;
  auto manifest = named_evaluation(toy);
  manifest.systems = {system_file(toy, "large", "cores: 100000\n")};
  const Results results = evaluate(manifest);
  REQUIRE(results.measurements.size() == 2);
  for (const Measurement& record : results.measurements) {
    CHECK(record.status == Status::skipped);
    CHECK_THAT(record.reason, Contains("large@1.0.0-dev") && Contains("100000 are required"));
  }
}

TEST_CASE("a system's price is that of its records, and a million predictions cost by it") {
  const testing::ToyEvaluation toy;
  auto manifest = named_evaluation(toy);
  manifest.systems = {system_file(toy, "large", "cores: 100000\n"),
                      system_file(toy, "small", "cores: 1\nprice_per_hour: 7.2\n")};
  double cost = 0, throughput = 0;
  for (const Measurement& record : evaluate(manifest).measurements) {
    CHECK(condition_of(record, "system") == "small@1.0.0-dev");
    CHECK(condition_of(record, "price_per_hour") == "7.2");
    if (record.metric == "cost") cost = record.samples.at(0);
    if (record.metric == "throughput") throughput = estimate(record).value;
  }
  CHECK(cost == Approx(1e6 / throughput / 3600 * 7.2));
}

TEST_CASE("a framework's manifest is resolved, and held to its version") {
  const testing::ToyEvaluation toy;
  auto manifest = named_evaluation(toy);
  manifest.frameworks = {
      framework_file(toy, "word: sleep\noptions: {seconds: '0', output: means, classes: '3'}\n")};
  const FixedEvaluation fixed = fix_evaluation(manifest);
  REQUIRE(fixed.frameworks.size() == 1);
  CHECK(fixed.frameworks[0].word == "sleep:classes=3:output=means:seconds=0");
  CHECK(evaluate(manifest).measurements.at(0).framework == fixed.frameworks[0].word);
  const std::string key = fixed.key;
  (void)framework_file(toy, "word: reference\nrequires: '>=999'\n");
  CHECK(fix_evaluation(manifest).key != key);
  for (const Measurement& record : evaluate(manifest).measurements) {
    CHECK(record.status == Status::unsupported);
    CHECK_THAT(record.reason, Contains("f@1.0.0-dev requires reference >=999"));
  }
}

TEST_CASE("a framework's word with options is no manifest, whatever they end with") {
  const testing::ToyEvaluation toy;
  auto manifest = named_evaluation(toy);
  manifest.beside = toy / "e.yaml";
  manifest.frameworks = {"openai:http://localhost:1/m:tokenizer=t.json",
                         "openai:http://localhost:1/m:tokenizer=/models/t.json",
                         "openai:http://user@localhost:1/m@2"};
  const FixedEvaluation fixed = fix_evaluation(manifest);
  REQUIRE(fixed.frameworks.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(fixed.frameworks[i].word == manifest.frameworks[i]);
    CHECK_FALSE(fixed.frameworks[i].told);
  }
  manifest.frameworks = {"./a:b.yaml"};
  CHECK_THROWS_AS(fix_evaluation(manifest), NotFound);
}

TEST_CASE("an evaluation is in its canonical text, but for its data sets") {
  const testing::ToyEvaluation toy;
  auto manifest = named_evaluation(toy);
  manifest.systems = {system_file(toy, "small", "cores: 1\n")};
  manifest.frameworks = {"reference", framework_file(toy, "word: 'null'\n")};
  const FixedEvaluation fixed = fix_evaluation(manifest);
  CHECK(is_fixed_evaluation(fixed.canonical));
  CHECK_FALSE(is_fixed_evaluation("kind: evaluation\n"));
  CHECK_FALSE(is_fixed_evaluation("{}"));
  CHECK_THROWS_AS(fixed_evaluation_from("{}", "e.json"), FormatError);
  // The toy's data set is a file of the user's, and no carried one.
  CHECK_THROWS_AS(fixed_evaluation_from(fixed.canonical, "e.json"), NotFound);
}

}  // namespace
}  // namespace d5
