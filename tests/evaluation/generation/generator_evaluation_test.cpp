// SPDX-License-Identifier: Apache-2.0
// Generators in evaluations: the files of a toy, in executors, under scenarios.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <utility>

#include "core/files/sha256.hpp"
#include "d5/core/entries/framework.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/evaluation/run/evaluate.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "tests/cache_folder.hpp"
#include "tests/evaluation/generation/toy_gguf.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using Catch::Contains;

namespace {

constexpr const char* kWord = "reference:most_tokens=5:capacity=512";

/// A generator with its manifest, in a folder of its own.
class ToyGenerator {
 public:
  /// `losses`: the manifest's claims. `scale` 0: every token is as likely as every other.
  explicit ToyGenerator(const std::string& losses = "", float scale = 20) {
    const std::string bytes = testing::ToyFile{.length = 512, .scale = scale}.bytes();
    write_file(folder_ / "toy.gguf", bytes);
    write_file(folder_ / "toy.yaml",
               "kind: generator\nname: toy\nversion: 1.0.0-dev\nlicence: CC0-1.0\nassets:\n"
               "- {name: toy.gguf, bytes: " +
                   std::to_string(bytes.size()) + ", sha256: " + detail::sha256(bytes) +
                   ", urls: 'file://" + (folder_ / "toy.gguf") + "'}\n" + losses);
  }
  /// The evaluation of a closed loop of three users and two slots.
  [[nodiscard]] EvaluationManifest evaluation(std::string framework = kWord) const {
    EvaluationManifest manifest;
    manifest.name = "generation";
    manifest.version = "1.0.0-dev";
    manifest.models = {folder_ / "toy.yaml"};
    manifest.frameworks = {std::move(framework)};
    manifest.scenarios = {{"closed_loop", {{"users", 3}}}};
    manifest.batches = {2};
    manifest.queries = 12;
    manifest.ttft_limit = 3600;
    return manifest;
  }

 private:
  testing::OwnCacheFolder cache_;
  testing::TemporaryFolder folder_;
};

std::string claim_of(double loss) {
  return "losses:\n- {text: 'Nine of ten', loss: " + std::to_string(loss) +
         ", tolerance: 1.0e-5, source: by construction}\n";
}

const Measurement& row_with(const Results& results, const std::string& metric) {
  const auto place = std::ranges::find(results.measurements, metric, &Measurement::metric);
  INFO(metric);
  REQUIRE(place != results.measurements.end());
  return *place;
}

/// An executor whose feed-forward layer has a column of other weights.
void add_tilted() {
  static const bool once = [] {
    add_framework("tilted", "1", [](Framework& framework) {
      framework.part<ExecutorRegistry>().add(
          "column",
          {"as the reference, but for some weights", [](Network network, const ExecutorOptions&) {
             for (Parameter& parameter : network.parameters()) {
               if (!parameter.name.ends_with("up.weight")) continue;
               for (float& weight : parameter.value.span<float>()) weight *= 1.25F;
             }
             network.values_changed();
             return std::shared_ptr<GraphExecutor>(make_executor(std::move(network)));
           }});
    });
    return true;
  }();
  (void)once;
}

}  // namespace

TEST_CASE("a generator is timed under scenarios, and its answers have regret of the reference") {
  const ToyGenerator toy;
  EvaluationManifest manifest = toy.evaluation();
  manifest.scenarios.push_back({"sessions", {{"turns", 3}}});
  const Results results = evaluate(manifest);
  for (const char* metric : {"ttft", "itl", "tpot", "output_rate", "attainment", "goodput"}) {
    const Measurement& row = row_with(results, metric);
    INFO(metric << ": " << row.reason);
    CHECK(row.status != Status::failed);
    CHECK_THAT(row.reason, !Contains("judged"));
    CHECK(row.framework == kWord);
    CHECK(row.conditions.at("dataset") == "prompts@1.0.0");
    CHECK_THAT(row.command, Contains("--framework " + std::string(kWord)) &&
                                Contains("--scenario closed_loop:users=3 --batch 2"));
  }
  CHECK(row_with(results, "output_tokens").samples == std::vector<double>(12, 5));
  CHECK(row_with(results, "loss").status == Status::skipped);
  std::ptrdiff_t judged = 0;
  for (const Measurement& row : results.measurements) {
    if (row.metric != "regret") continue;
    INFO(row.reason);
    ++judged;
    CHECK(row.status == Status::passed);
    CHECK(estimate(row).interval.high >= estimate(row).value);
    CHECK_THAT(condition_of(row, "judged"), Contains(" different answers"));
    CHECK(condition_of(row, "wrong") == "0");
  }
  CHECK(judged == 2);
}

TEST_CASE("a loss is that of the manifest's text, or its claim has failed") {
  const double uniform = std::log(double(testing::kToyTokens));
  const ToyGenerator honest(claim_of(uniform), 0);
  EvaluationManifest manifest = honest.evaluation();
  manifest.scenarios.clear();
  const Results right = evaluate(manifest);
  const Measurement& loss = row_with(right, "loss");
  INFO(loss.reason);
  CHECK(loss.status == Status::passed);
  CHECK(loss.unit == "nat");
  CHECK(estimate(loss).value == Approx(uniform).epsilon(1e-6));  // float32
  CHECK(condition_of(loss, "text") == "Nine of ten");
  CHECK(condition_of(loss, "tokens") == "10");

  const ToyGenerator boastful(claim_of(uniform / 2), 0);
  const Results wrong = evaluate(boastful.evaluation());
  CHECK(row_with(wrong, "loss").status == Status::failed);
  CHECK_THAT(row_with(wrong, "loss").reason, Contains("is claimed") && Contains("by construction"));
  CHECK(row_with(wrong, "ttft").status == Status::mistrusted);
  CHECK_THAT(row_with(wrong, "ttft").reason, Contains("its answers are not right: loss"));
}

TEST_CASE("a framework that computes something else fails by loss and regret") {
  add_tilted();
  const ToyGenerator toy(claim_of(1));
  const Results results = evaluate(toy.evaluation("tilted:column:most_tokens=20:capacity=512"));
  const Measurement& regret = row_with(results, "regret");
  CHECK(regret.status == Status::failed);
  CHECK_THAT(regret.reason, Contains("wrong: token"));
  CHECK(estimate(regret).value > 0);
  CHECK(row_with(results, "ttft").status == Status::mistrusted);
  CHECK_THAT(row_with(results, "ttft").reason, Contains("judged wrong"));
  CHECK(std::abs(estimate(row_with(results, "loss")).value -
                 *condition_number(row_with(results, "loss"), "reference")) > 1e-3);
}

TEST_CASE("no row of answers that nobody judged has passed") {
  const ToyGenerator toy;
  EvaluationManifest manifest = toy.evaluation();
  manifest.accuracy = false;
  const Results left_out = evaluate(manifest);
  CHECK(std::ranges::count(left_out.measurements, "regret", &Measurement::metric) == 0);
  CHECK(row_with(left_out, "ttft").status == Status::mistrusted);
  CHECK_THAT(row_with(left_out, "ttft").reason, Contains("accuracy is left out"));
  const Results elsewhere = evaluate(toy.evaluation("clockwork:first=0.001:gap=0.001:tokens=3"));
  CHECK(row_with(elsewhere, "loss").status == Status::skipped);
  CHECK(row_with(elsewhere, "ttft").status == Status::mistrusted);
  CHECK_THAT(row_with(elsewhere, "ttft").reason, Contains("gives no tokens"));
}

TEST_CASE("what a generator has not is refused by name, with a way out") {
  const ToyGenerator toy;
  EvaluationManifest manifest = toy.evaluation();
  manifest.instances = 2;
  CHECK(row_with(evaluate(manifest), "latency").status == Status::unsupported);
  CHECK_THAT(row_with(evaluate(manifest), "latency").reason,
             Contains("leave out instances") && Contains("batch"));
  const Results misspelt = evaluate(toy.evaluation("reference:most_token=5"));
  CHECK_THAT(row_with(misspelt, "latency").reason, Contains("did you mean most_tokens?"));
}
