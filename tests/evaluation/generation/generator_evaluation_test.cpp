// SPDX-License-Identifier: Apache-2.0
// Generators in evaluations: the files of a toy, in executors, under scenarios.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/files/sha256.hpp"
#include "d5/core/entries/framework.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/measuring/work_list.hpp"
#include "d5/evaluation/generation/gguf_model.hpp"
#include "d5/evaluation/generation/network_generator.hpp"
#include "d5/evaluation/run/evaluate.hpp"
#include "d5/evaluation/run/peak_work.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "tests/cache_folder.hpp"
#include "tests/evaluation/generation/toy_gguf.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using Catch::Contains;

namespace {

constexpr const char* kWord = "reference:most_tokens=5:capacity=512";

/// A file whose scores depend on all its text; of scale 0: every token is as likely as every other.
testing::ToyFile toy_file(float scale = 20) { return {.length = 512, .scale = scale}; }

/// A generator with its manifest, in a folder of its own.
class ToyGenerator {
 public:
  /// `losses`: the manifest's claims.
  explicit ToyGenerator(const std::string& losses = "", const testing::ToyFile& file = toy_file()) {
    const std::string bytes = file.bytes();
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
  [[nodiscard]] std::string operator/(const std::string& name) const { return folder_ / name; }

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
  const ToyGenerator honest(claim_of(uniform), toy_file(0));
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

  const ToyGenerator boastful(claim_of(uniform / 2), toy_file(0));
  const Results wrong = evaluate(boastful.evaluation());
  CHECK(row_with(wrong, "loss").status == Status::failed);
  CHECK_THAT(row_with(wrong, "loss").reason, Contains("is claimed") && Contains("by construction"));
  CHECK(row_with(wrong, "ttft").status == Status::mistrusted);
  CHECK_THAT(row_with(wrong, "ttft").reason, Contains("its answers are not right: loss"));
}

TEST_CASE("the generator that d5 carries is evaluated without a download, as right") {
  const testing::OwnCacheFolder cache;
  EvaluationManifest manifest;
  manifest.name = "carried";
  manifest.version = "1.0.0-dev";
  manifest.models = {"bytes-decoder"};
  manifest.frameworks = {"reference:most_tokens=8:capacity=256"};
  manifest.scenarios = {{"closed_loop", {{"users", 2}}}};
  manifest.batches = {2};
  manifest.queries = 4;
  const Results results = evaluate(manifest);
  for (const char* metric : {"loss", "regret"}) {
    const Measurement& row = row_with(results, metric);
    INFO(metric << ": " << row.reason);
    CHECK(row.status == Status::passed);
  }
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

TEST_CASE("both frameworks of a pair are judged") {
  add_tilted();
  const ToyGenerator toy;
  EvaluationManifest manifest = toy.evaluation();
  manifest.frameworks.emplace_back("tilted:column:most_tokens=20:capacity=512");
  manifest.scenarios = {{"pairs"}};
  const Results results = evaluate(manifest);
  std::map<std::string, Status> regret;
  for (const Measurement& row : results.measurements) {
    if (row.metric == "regret") regret[row.framework] = row.status;
  }
  CHECK(regret == std::map<std::string, Status>{{manifest.frameworks[0], Status::passed},
                                                {manifest.frameworks[1], Status::failed}});
  CHECK(row_with(results, "ttft_ratio").status == Status::mistrusted);
}

TEST_CASE("the answers of a search for the highest rate are judged") {
  add_tilted();
  const ToyGenerator toy;
  const bool is_tilted = GENERATE(false, true);
  EvaluationManifest manifest =
      toy.evaluation(is_tilted ? "tilted:column:most_tokens=20:capacity=512" : kWord);
  manifest.ttft_limit = 0;
  const FixedEvaluation fixed = fix_evaluation(manifest);
  PeakWorkOptions options{.search = {.objectives = objectives_of_words("p50<=60s")}};
  options.search.first_rate = options.search.highest_rate = 200;
  const Results results = run_work(peak_work(fixed, options), {.how = "a test"}).results;
  const Measurement& peak = row_with(results, "peak_rate");
  INFO(peak.reason);
  CHECK(row_with(results, "regret").status == (is_tilted ? Status::failed : Status::passed));
  CHECK((peak.reason.find("judged wrong") != std::string::npos) == is_tilted);
}

TEST_CASE("an answer of a recorded length goes on after the token that ends others") {
  // The answer to the prompt that the scenario draws from the only token of the only text.
  testing::ToyFile file = toy_file();
  std::vector<TokenId> free;
  {
    const testing::TemporaryFolder folder;
    write_file(folder / "toy.gguf", file.bytes());
    LanguageModel model = open_gguf(folder / "toy.gguf", {.capacity = 64});
    NetworkGenerator generator(make_executor(std::move(model.network)), model.tokenizer);
    (void)generator.admit(std::vector<TokenId>(3, 'a'), {.most_tokens = 6}, {});
    while (generator.active() > 0) {
      for (const GeneratedToken& next : generator.step()) free.push_back(next.token);
    }
  }
  file.end = std::uint32_t(free[1]);
  const ToyGenerator toy("", file);
  std::filesystem::create_directory(toy / "texts");
  write_file(toy / "texts/a.txt", "a");
  write_file(toy / "trace.jsonl", R"({"timestamp": 0, "input_length": 3, "output_length": 6})"
                                  "\n");
  EvaluationManifest manifest = toy.evaluation();
  manifest.dataset = toy / "texts";
  manifest.scenarios = {{"recorded", {{"file", toy / "trace.jsonl"}}}};
  manifest.queries = 1;
  const Results results = evaluate(manifest);
  INFO(row_with(results, "regret").reason);
  CHECK(row_with(results, "output_tokens").samples == std::vector<double>{6});
  CHECK(row_with(results, "regret").status == Status::passed);
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
