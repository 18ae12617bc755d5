// SPDX-License-Identifier: Apache-2.0
// Micro-batches: what is chosen against all choices that there are, and what the plan then needs.
#include <dlfcn.h>

#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/core/numbers/byte_count.hpp"
#include "d5/level1_network/graph/transform.hpp"
#include "d5/level1_network/plan/planned_memory.hpp"
#include "d5/level1_network/profile/network_bench.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "d5/level1_network/validation/network_validation.hpp"
#include "level1_network/micro_batch/batch_split.hpp"
#include "level1_network/micro_batch/choose_sizes.hpp"
#include "level1_network/mixture/integer_program.hpp"

using namespace d5;
using Catch::Contains;

namespace {

std::size_t planned_bytes(const Network& network, std::int64_t batch) {
  const auto executor = make_executor(network);
  const bool fixed =
      std::holds_alternative<std::int64_t>(network.graph().inputs.front().type.dims.front());
  executor->plan(random_inputs(network, {.batch = fixed ? 1 : batch}), loss_of(network));
  return planned_memory(*executor).bytes();
}

TransformReport split(Network& network, const Settings& settings) {
  return apply_transforms(network, {{"microbatch", settings}}).at(0).report;
}

/// Stretches between `cuts` cuts that take seconds(size) = 1 + size / 8 for each micro-batch, and a
/// byte for each row and each cut between.
std::vector<SegmentWays> all_stretches(std::size_t cuts, const std::vector<std::int64_t>& sizes) {
  std::vector<SegmentWays> ways;
  for (std::size_t begin = 0; begin + 1 < cuts; ++begin) {
    for (std::size_t end = begin + 1; end < cuts; ++end) {
      SegmentWays& way = ways.emplace_back();
      way.begin = begin;
      way.end = end;
      way.joint_seconds = 0.5;
      for (const std::int64_t size : sizes) way.bytes[size] = std::size_t(size) * (end - begin);
      way.seconds = [](std::int64_t size) { return 1 + double(size) / 8; };
    }
  }
  return ways;
}

}  // namespace

TEST_CASE("an integer program has the best whole numbers, not the nearest to the best reals") {
  // The reals with 3 x + 4 y <= 10 that maximise 4 x + 5 y are (10/3, 0); rounded: 12. (2, 1) has
  // 13.
  IntegerProgram program{.costs = {-4, -5}, .most = {10, 10}, .rows = {}};
  program.rows.push_back({.terms = {{0, 3}, {1, 4}}, .least = 0, .most = 10});
  const auto best = minimise(program);
  REQUIRE(best);
  CHECK(*best == std::vector<std::int64_t>{2, 1});
  program.rows.front() = {.terms = {{0, 2}, {1, 4}}, .least = 3, .most = 3};  // even is not odd
  CHECK_FALSE(minimise(program));
}

TEST_CASE("the solver's BLAS stays out of the way of those that frameworks have") {
  IntegerProgram program{.costs = {-1}, .most = {3}, .rows = {}};
  program.rows.push_back({.terms = {{0, 1.0}}, .least = 0, .most = 2});
  REQUIRE(minimise(program));
  CHECK(dlsym(RTLD_DEFAULT, "sgemm_") == nullptr);
}

TEST_CASE("the sizes that are chosen are those of the fastest multiset that has room") {
  const std::vector<SegmentWays> ways = all_stretches(2, {1, 2, 4, 8});
  // 6 rows in at most 4 bytes: 4 + 2 takes 2 + 6/8, any other at least 3 + 6/8.
  const auto chosen = choose_sizes(ways, 6, 4);
  REQUIRE(chosen);
  REQUIRE(chosen->size() == 1);
  CHECK(chosen->front().sizes == std::vector<std::int64_t>{4, 2});
  CHECK_FALSE(choose_sizes(ways, 6, 0));
  CHECK(least_bytes(ways) == 1);
}

TEST_CASE("stretches that are chosen follow one another without a gap") {
  // Room for 4 rows times cuts: three stretches of one cut run 8 rows as 4 + 4 (3 + 0.5 each), one
  // of two cuts as 2 + 2 + 2 + 2, one of three as 8 times 1.
  const std::vector<SegmentWays> ways = all_stretches(4, {1, 2, 4});
  const auto chosen = choose_sizes(ways, 8, 4);
  REQUIRE(chosen);
  std::size_t at = 0;
  for (const auto& [segment, sizes] : *chosen) {
    CHECK(segment->begin == at);
    at = segment->end;
  }
  CHECK(at == 3);
  // One of two cuts costs 4 + 1 + 0.5, two of one 2 (2 + 1 + 0.5); one of three 8 + 1 + 0.5.
  std::size_t pieces = 0;
  for (const auto& one : *chosen) pieces += one.sizes.size();
  CHECK(pieces == 6);
}

TEST_CASE("micro-batches as words are read back") {
  const std::string words = "conv1..pool5=64*3+32*1;/fc/Gemm=1..fc8=2*2";
  const auto splits = batch_splits(words);
  REQUIRE(splits.size() == 2);
  CHECK(splits[0].sizes == std::vector<std::int64_t>{64, 64, 64, 32});
  CHECK(splits[1].first == "/fc/Gemm=1");
  CHECK(to_words(splits) == words);
  for (const char* bad : {"", "a..b", "a=3", "a..b=0", "a..b=2*", "a..b=x", "a..b=-1"}) {
    INFO(bad);
    CHECK_THROWS_AS(batch_splits(bad), ValueError);
  }
}

TEST_CASE("a network whose plan is above the limit fits it in micro-batches") {
  for (const bool with_loss : {false, true}) {
    const auto make = [&] { return models().at("lenet").make({{"with_loss", with_loss}}); };
    const std::size_t whole = planned_bytes(make(), 32);
    const std::size_t limit = with_loss ? whole * 19 / 20 : whole / 3;
    Network network = make();
    const auto report = split(network, {{"batch", 32}, {"memory", byte_words(limit)}});
    INFO(report.what);
    CHECK(report.left.empty());
    CHECK(planned_bytes(network, 32) <= limit);
    // Told in words that do the same again.
    const auto begin = report.what.find(' ') + 1, end = report.what.find(": ");
    Network again = make();
    (void)split(again, {{"batch", 32}, {"choices", report.what.substr(begin, end - begin)}});
    CHECK(again.serialize() == network.serialize());
    // And it computes the same.
    const ValueMap inputs = random_inputs(make(), {.batch = 32}, 3);
    const auto got = make_executor(network, {.memory_limit = limit});
    const auto expected = make_executor(make());
    CHECK_THROWS_AS(make_executor(make(), {.memory_limit = limit})->plan(inputs, loss_of(network)),
                    MemoryError);
    const auto records = with_loss ? test_executor_backprop(*got, *expected, inputs, "loss")
                                   : test_executor(*got, *expected, inputs);
    for (const auto& record : records) CHECK(record.status == Status::passed);
  }
}

TEST_CASE("a run's batch and memory limit are those of its micro-batches") {
  const std::size_t limit = planned_bytes(models().at("lenet").make(), 32) / 2;
  const auto status_with = [&](const TransformChain& chain) {
    const auto records =
        plan_network("lenet", {.sizes = {.batch = 32}, .transforms = chain, .memory_limit = limit});
    REQUIRE(records.size() == 1);
    CHECK(records.front().conditions.at("memory limit") == byte_words(limit));
    return records.front().status;
  };
  CHECK(status_with({}) == Status::failed);
  CHECK(status_with({{"microbatch"}}) == Status::skipped);  // planned, not run
  // The chain's own options take precedence.
  CHECK(status_with({{"microbatch", {{"memory", "1GiB"}}}}) == Status::failed);
}

TEST_CASE("a network that fits stays as it is, and a limit below all choices is reported") {
  Network network = models().at("lenet").make();
  CHECK(split(network, {{"batch", 4}}).what.empty());
  const auto report = split(network, {{"batch", 4}, {"memory", "1B"}});
  REQUIRE(report.left.size() == 1);
  CHECK_THAT(report.left.front(), Contains("above the limit of 1.00 B"));
}

TEST_CASE("a batch that nobody says, and splits that do not fit, are refused") {
  Network network = models().at("lenet").make();
  CHECK_THROWS_WITH(split(network, {}), Contains("leaves its batch open"));
  CHECK_THROWS_WITH(split(network, {{"batch", 4}, {"framework", "auto"}}),
                    Contains("'auto' names none"));
  const std::string conv = network.graph().nodes.front().outputs.front();
  CHECK_THROWS_WITH(split(network, {{"batch", 4}, {"choices", conv + ".." + conv + "=3"}}),
                    Contains("do not add up to the batch of 4"));
  CHECK_THROWS_WITH(split(network, {{"batch", 4}, {"choices", "nothing..nowhere=4"}}),
                    Contains("no segment"));
  CHECK_THROWS_AS(split(network, {{"memory", "much"}}), ValueError);
}

TEST_CASE("what draws for the whole batch, or counts in it, ends a stretch") {
  Network network("ends");
  network.add_input("x", DType::float32, {std::int64_t{4}, 2, 6, 6});
  network.add_node("Relu", {"x"}, {"a"});
  network.add_node("MaxPool", {"a"}, {"b", "places"},
                   {{"kernel_shape", std::vector<std::int64_t>{2, 2}}});
  network.add_node("Relu", {"b"}, {"c"});
  network.add_node("Flatten", {"c"}, {"d"}, {{"axis", std::int64_t{0}}});
  for (const char* output : {"d", "places"}) network.add_output(output);
  CHECK_THROWS_WITH(split(network, {{"choices", "a..c=2*2"}}), Contains("no segment"));
  CHECK_THROWS_WITH(split(network, {{"choices", "c..d=2*2"}}), Contains("no segment"));
  CHECK(split(network, {{"choices", "c..c=3+1"}}).what == "split c..c=3*1+1*1");
}
