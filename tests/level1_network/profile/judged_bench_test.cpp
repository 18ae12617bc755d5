// SPDX-License-Identifier: Apache-2.0
// A time counts if the answer was right.
#include <catch2/catch.hpp>

#include "d5/core/results/pivot.hpp"
#include "d5/level1_network/profile/network_bench.hpp"
#include "d5/level1_network/profile/subject_comparison.hpp"
#include "tests/cache_folder.hpp"
#include "tests/level1_network/planted_faults.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/test_folder.hpp"

using namespace d5;
using Catch::Contains;

namespace {

/// A model with 10^6 elements at batch 1.
std::string model_in(const testing::TemporaryFolder& folder) {
  Network network("wide");
  network.add_input("x", DType::float32, {"N", std::int64_t{1'000'000}});
  network.add_node("Sigmoid", {"x"}, {"y"});
  network.add_output("y");
  network.save(folder / "wide.onnx");
  return folder / "wide.onnx";
}

std::vector<Measurement> bench(const std::string& model, const std::vector<std::string>& words,
                               std::int64_t batch = 1, bool unjudged = false) {
  planted::use_framework();
  return bench_network(model, {.frameworks = words,
                               .sizes = {.batch = batch},
                               .metrics = {"time"},
                               .measuring = {.samples = 9, .unjudged = unjudged}});
}

const Measurement& of(const std::vector<Measurement>& records, const std::string& framework,
                      const std::string& metric) {
  for (const auto& record : records) {
    if (record.framework == framework && record.metric == metric) return record;
  }
  FAIL("there is no " << metric << " of " << framework);
  return records.front();
}

}  // namespace

TEST_CASE("every planted fault is found, and who has none is right") {
  const testing::OwnCacheFolder cache;
  const testing::TemporaryFolder folder;
  const auto [fault, batch, why] = GENERATE(table<std::string, std::int64_t, std::string>(
      {{"planted:wrong", 1, "output y"},
       {"planted:wrong-after-ten", 1, "right before the clock ran, wrong after it"},
       {"planted:wrong-at-batch-8", 8, "output y"},
       {"planted:stale", 1, "do not change although its inputs do"},
       {"planted:one-nan", 1, "got nan"}}));
  const auto records = bench(model_in(folder), {fault, "reference", "planted:honest"}, batch);
  const Measurement& time = of(records, fault, "time");
  CHECK(time.status == Status::failed);
  CHECK(time.samples.size() == 9);
  CHECK(answers_wrongly(time));
  CHECK_THAT(time.reason, Contains("wrong answers: ") && Contains(why));
  CHECK(time.conditions.at("judge") == "reference in float64");
  for (const char* honest : {"reference", "planted:honest"}) {
    CHECK(of(records, honest, "time").conditions.at("answers") == "right");
    CHECK(of(records, honest, "time").status != Status::failed);
  }
  // The ratio is to who is right, and none is of who is not.
  CHECK(of(records, "planted:honest", "time_ratio").conditions.at("base") == "reference");
  for (const auto& record : records) {
    if (record.framework == fault) CHECK(record.metric != "time_ratio");
  }
}

TEST_CASE("an executor that flushes tiny values to zero is not accused of cached results") {
  const testing::OwnCacheFolder cache;
  const testing::TemporaryFolder folder;
  Network network("faint");
  network.add_input("x", DType::float32, {"N", 4});
  network.add_constant("far", Tensor::of<float>({1}, {80}));
  network.add_node("Sub", {"x", "far"}, {"d"});
  network.add_node("Sigmoid", {"d"}, {"y"});
  network.add_output("y");
  network.save(folder / "faint.onnx");
  const auto records = bench(folder / "faint.onnx", {"planted:flushing"});
  CHECK(of(records, "planted:flushing", "time").conditions.at("answers") == "right");
}

TEST_CASE("what is wrong at another batch alone is right here") {
  const testing::OwnCacheFolder cache;
  const testing::TemporaryFolder folder;
  const auto records = bench(model_in(folder), {"planted:wrong-at-batch-8"});
  CHECK(of(records, "planted:wrong-at-batch-8", "time").conditions.at("answers") == "right");
}

TEST_CASE("a wrong answer's time is in no pivot, and has no ratio to its base") {
  const testing::OwnCacheFolder cache;
  const testing::TemporaryFolder folder;
  const auto records = bench(model_in(folder), {"reference", "planted:wrong"});
  const Measurement& ratio = of(records, "planted:wrong", "time_ratio");
  CHECK(ratio.status == Status::skipped);
  CHECK_THAT(ratio.reason, Contains("planted:wrong gives wrong answers"));
  const std::string table = pivot(records, "framework").to_text(Format::table, 200);
  CHECK_THAT(table, Contains("failed"));
  CHECK_THAT(table, !Contains("geometric mean"));
  CHECK_THAT(pivot_notes(records), Contains("failed: wrong answers: output y"));
}

TEST_CASE("unjudged, every row says so") {
  const testing::OwnCacheFolder cache;
  const testing::TemporaryFolder folder;
  const auto records = bench(model_in(folder), {"planted:wrong", "reference"}, 1, true);
  for (const auto& record : records) {
    CHECK(record.conditions.at("answers") == "not judged");
    CHECK(record.conditions.at("judge") == "none: unjudged");
    CHECK(record.status != Status::failed);
    CHECK_THAT(record.command, Contains("--unjudged"));
  }
}

TEST_CASE("the reference judges a network once; a second bench reads what it answered") {
  const testing::OwnCacheFolder cache;
  const testing::TemporaryFolder folder;
  const std::string model = model_in(folder);
  (void)bench(model, {"planted:honest"});
  const auto files = cache.files();
  REQUIRE(files.size() == 1);
  const auto written = std::filesystem::last_write_time(files.front());
  const auto records = bench(model, {"planted:wrong", "planted:honest"});
  CHECK(of(records, "planted:wrong", "time").status == Status::failed);
  CHECK(of(records, "planted:honest", "time").conditions.at("answers") == "right");
  CHECK(cache.files() == files);
  CHECK(std::filesystem::last_write_time(files.front()) == written);
  (void)bench(model, {"planted:honest"}, 2);
  CHECK(cache.files().size() == 2);
}

TEST_CASE("a damaged file of kept answers is computed again") {
  const testing::OwnCacheFolder cache;
  const testing::TemporaryFolder folder;
  const std::string model = model_in(folder);
  (void)bench(model, {"planted:honest"});
  std::filesystem::resize_file(cache.files().front(), 100);
  const auto records = bench(model, {"planted:wrong", "planted:honest"});
  CHECK(of(records, "planted:wrong", "time").status == Status::failed);
  CHECK(of(records, "planted:honest", "time").conditions.at("answers") == "right");
}

TEST_CASE("comparing two subjects, too, tells who is wrong") {
  const testing::OwnCacheFolder cache;
  const testing::TemporaryFolder folder;
  planted::use_framework();
  const std::string model = model_in(folder);
  const auto compared = compare_subjects(
      model, model, {.frameworks = {"reference", "planted:wrong"}, .measuring = {.samples = 5}});
  CHECK(of(compared.records, "planted:wrong", "time").status == Status::failed);
}

TEST_CASE("a test folder is timed on what it brings, unless other sizes are asked for") {
  const testing::OwnCacheFolder cache;
  const testing::TemporaryFolder folder;
  // K is 3 in the folder; open, it is what goes through.
  Network network("two");
  network.add_input("x", DType::float32, {"N", "K"});
  network.add_constant("w", Tensor::zeros(DType::float32, {3, 2}));
  network.add_node("MatMul", {"x", "w"}, {"y"});
  network.add_output("y");
  const ValueMap fed{{"x", Tensor::zeros(DType::float32, {4, 3})}};
  testing::write_test_folder(folder / "two", network, fed,
                             {{"y", Tensor::zeros(DType::float32, {4, 2})}});
  const auto records = bench(folder / "two", {"reference"});
  CHECK(of(records, "reference", "time").samples.size() == 9);
  const auto others = bench(folder / "two", {"reference"}, 2);
  CHECK(of(others, "reference", "time").conditions.at("batch") == "2");
  CHECK(of(others, "reference", "time").conditions.at("sizes") == "K=3");
}
