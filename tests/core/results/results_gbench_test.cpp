// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "d5/core/results/results.hpp"

using namespace d5;

namespace {

Measurement gbench_time(const std::string& metric, std::vector<double> samples) {
  return {.subject = "Gemm 8x8 8x8",
          .framework = "torch",
          .metric = metric,
          .unit = "s",
          .quantity = Quantity::time,
          .samples = std::move(samples),
          .conditions = {
              {"pass", identity("forward")}, {"repetitions", aside(64)}, {"threads", identity(2)}}};
}

nlohmann::json benchmarks_of(std::vector<Measurement> measurements) {
  Environment environment;
  environment.time = "2026-01-02T03:04:05Z";
  environment.hostname = "host";
  return nlohmann::json::parse(to_gbench({environment, std::move(measurements)}));
}

}  // namespace

// The fields are those that Google Benchmark's reporter writes and its compare.py looks at.
TEST_CASE("a sample is a repetition, in nanoseconds, under one name") {
  const auto file = benchmarks_of({gbench_time("time", {1e-6, 3e-6, 2e-6})});
  CHECK(file.at("context").at("host_name") == "host");
  CHECK(file.at("context").at("date") == "2026-01-02T03:04:05Z");
  const auto& first = file.at("benchmarks").at(0);
  CHECK(first.at("name") == "Gemm 8x8 8x8/torch");
  CHECK(first.at("run_name") == first.at("name"));
  CHECK(first.at("run_type") == "iteration");
  CHECK(first.at("repetitions") == 3);
  CHECK(first.at("repetition_index") == 0);
  CHECK(first.at("iterations") == 64);
  CHECK(first.at("threads") == 2);
  CHECK(first.at("time_unit") == "ns");
  CHECK(first.at("real_time").get<double>() == Approx(1000));
  CHECK(first.at("cpu_time").get<double>() == Approx(1000));
  CHECK(file.at("benchmarks").at(2).at("repetition_index") == 2);
}

TEST_CASE("the name says the identities in which records differ") {
  Measurement backward = gbench_time("time", {2e-6});
  backward.conditions["pass"] = identity("backward");
  backward.conditions["m"] = identity(16);
  Measurement forward = gbench_time("time", {1e-6});
  forward.conditions["m"] = identity(8);
  const auto file = benchmarks_of({forward, backward});
  CHECK(file.at("benchmarks").at(0).at("name") == "Gemm 8x8 8x8/torch/m:8/pass:forward");
  CHECK(file.at("benchmarks").back().at("run_name") == "Gemm 8x8 8x8/torch/m:16/pass:backward");
}

TEST_CASE("the aggregates are those of Google Benchmark") {
  const auto file = benchmarks_of({gbench_time("time", {1e-6, 3e-6, 2e-6})});
  const auto& list = file.at("benchmarks");
  REQUIRE(list.size() == 3 + 4);
  const auto check = [&](std::size_t i, const std::string& name, const std::string& unit,
                         double value) {
    CHECK(list.at(i).at("name") == "Gemm 8x8 8x8/torch_" + name);
    CHECK(list.at(i).at("run_type") == "aggregate");
    CHECK(list.at(i).at("aggregate_name") == name);
    CHECK(list.at(i).at("aggregate_unit") == unit);
    CHECK(list.at(i).at("real_time").get<double>() == Approx(value));
  };
  check(3, "mean", "time", 2000);
  check(4, "median", "time", 2000);
  check(5, "stddev", "time", 1000);
  check(6, "cv", "percentage", 0.5);
}

TEST_CASE("processor time that was measured beside stands beside") {
  const auto file =
      benchmarks_of({gbench_time("time", {1e-6, 3e-6}), gbench_time("cpu_time", {2e-6, 6e-6})});
  REQUIRE(file.at("benchmarks").size() == 2 + 4);
  CHECK(file.at("benchmarks").at(1).at("cpu_time").get<double>() == Approx(6000));
}

TEST_CASE("records other than times are left out") {
  Measurement bytes = gbench_time("peak_memory", {1});
  bytes.quantity = Quantity::bytes;
  CHECK(benchmarks_of({bytes, gbench_time("time", {})}).at("benchmarks").empty());
}

TEST_CASE("what did not pass says so in its label, which compare.py leaves alone") {
  Measurement doubtful = gbench_time("time", {1e-6, 3e-6, 2e-6});
  mistrust(doubtful, "the samples drift");
  const auto list = benchmarks_of({doubtful, gbench_time("time", {1e-6})}).at("benchmarks");
  CHECK(list.at(0).at("label") == "mistrusted: the samples drift");
  CHECK(list.at(3).at("label") == "mistrusted: the samples drift");  // the aggregates too
  CHECK_FALSE(list.at(7).contains("label"));
}
