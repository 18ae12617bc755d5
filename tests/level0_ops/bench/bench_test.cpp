// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/bench/bench.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "d5/core/errors/error.hpp"
#include "d5/core/machine/threads.hpp"

using namespace d5;

namespace {

/// Records by pass and metric: "forward time".
std::set<std::string> rows_of(const std::vector<Measurement>& records) {
  std::set<std::string> rows;
  for (const auto& m : records) rows.insert(m.conditions.at("pass").text() + " " + m.metric);
  return rows;
}

}  // namespace

TEST_CASE(
    "a benchmark is a sentence: forward and backward, with the rates of the operator's work") {
  const auto records = bench("Gemm 8x4 4x2");
  CHECK(rows_of(records) == std::set<std::string>{"forward time", "forward flop_rate",
                                                  "forward byte_rate", "backward time",
                                                  "backward flop_rate", "backward byte_rate"});
  for (const auto& m : records) {
    CHECK(m.subject == "Gemm 8x4 4x2");
    CHECK(m.level == "operator");
    CHECK(m.framework == "reference");
    CHECK(m.framework_version != "");
    CHECK(m.samples.size() == 30);
  }
  // 8 x 2 outputs of 4 products and 4 sums, and C = 0: 2 * 8 * 4 * 2 flop, or some for C besides.
  const auto& time = records.at(0);
  const auto& rate = records.at(1);
  CHECK(rate.samples.at(0) * time.samples.at(0) >= Approx(2 * 8 * 4 * 2));
  CHECK(rate.samples.at(0) * time.samples.at(0) <= Approx(2 * 8 * 4 * 2 + 3 * 8 * 2));
}

TEST_CASE("every record's command runs it again, with all that was asked") {
  const auto records = bench("Relu 8", {.passes = BenchOptions::Passes::forward,
                                        .metrics = {"time", "cpu_time"},
                                        .measuring = {.samples = 3, .warmup = 1, .seed = 7},
                                        .command_options = " --load mine.so"});
  const std::string threads = std::to_string(d5::threads());
  for (const auto& m : records) {
    CHECK(m.command == "d5 op bench 'Relu 8' --pass forward --framework reference --threads " +
                           threads +
                           " --seed 7 --samples 3 --warmup 1 --metrics cpu_time --load mine.so");
  }
}

TEST_CASE("names behind a case's for are identities, and the command says them again") {
  const OperatorCase one = expand_case("Relu {n} for n=8,16").at(1).draw();
  for (const auto& m : bench(one, {.passes = BenchOptions::Passes::forward,
                                   .measuring = {.samples = 3, .warmup = 1}})) {
    CHECK(m.subject == "Relu 16");
    CHECK(m.conditions.at("n") == identity(16));
    CHECK_THAT(m.command, Catch::Contains("'Relu {n} for n=16'"));
  }
}

TEST_CASE("a case that cannot run has a record with the reason; an unknown framework is refused") {
  const auto records = bench("NonZero 8", {.passes = BenchOptions::Passes::backward});
  REQUIRE(records.size() == 1);
  CHECK(records[0].status == Status::unsupported);
  CHECK(records[0].conditions.at("pass") == "backward");
  CHECK_THROWS_AS(bench("Relu 8", {.frameworks = {"no-such-framework"}}), NotFound);
  CHECK_THROWS_AS(bench("Relu eight"), FormatError);
}

TEST_CASE("an interrupt ends a benchmark between two passes too") {
  std::stop_source stop;
  stop.request_stop();
  const auto records = bench("Relu 8", {.measuring = {.interrupt = {.token = stop.get_token()}}});
  CHECK_FALSE(rows_of(records).contains("backward time"));
  for (const auto& m : records) CHECK(m.status == Status::skipped);
}

TEST_CASE("the gradient of the data and those of the weights are passes of their own") {
  using Passes = BenchOptions::Passes;
  const OperatorCase conv = parse_case("Conv 1x2x5x5 3x2x3x3 3");
  const auto row = [](const std::string& line, Passes passes) {
    return bench(line, {.passes = passes, .measuring = {.samples = 2}}).at(0);
  };
  for (const auto& [name, passes] : passes_by_name()) {
    if (passes == Passes::both || passes == Passes::each) continue;
    const Measurement time = row(conv.line, passes);
    CHECK(time.conditions.at("pass") == name);
    CHECK_THAT(time.command, Catch::Contains(" --pass " + name + " "));
    CHECK(time.samples.size() == 2);
  }
  // 27 outputs of 18 products and 18 sums; each factor's gradient is of as many, B's of 27 sums.
  const auto work = [&](Passes passes) { return operator_subject(conv, "reference", passes).work; };
  CHECK(work(Passes::backward_data).flop == 27 * 2 * 18);
  CHECK(work(Passes::backward_weights).flop == 27 * 2 * 18 + 27);
  CHECK(work(Passes::backward).flop == 2 * 27 * 2 * 18 + 27);
  CHECK(work(Passes::backward_data).bytes == 4 * (27 + 54 + 50));
  CHECK(work(Passes::backward_weights).bytes == 4 * (27 + 50 + 54 + 3));
  CHECK(row("Relu 8", Passes::backward_data).samples.size() == 2);
  const Measurement relu = row("Relu 8", Passes::backward_weights);
  CHECK(relu.status == Status::unsupported);
  CHECK_THAT(relu.reason, Catch::Contains("there are no weights"));
  CHECK(rows_of(bench(conv.line, {.passes = Passes::each, .measuring = {.samples = 2}})) ==
        std::set<std::string>{"forward time", "forward flop_rate", "forward byte_rate",
                              "backward-data time", "backward-data flop_rate",
                              "backward-data byte_rate", "backward-weights time",
                              "backward-weights flop_rate", "backward-weights byte_rate"});
  const auto passes = rows_of(bench("Relu 8", {.passes = Passes::each}));
  CHECK(passes.contains("backward-data time"));
  CHECK_FALSE(passes.contains("backward-weights time"));  // none there, and not asked for
  const auto planned = plan_bench(conv, {.passes = Passes::backward_weights});
  REQUIRE(planned.size() == 1);
  CHECK(planned[0].status == Status::skipped);
  CHECK(planned[0].conditions.at("pass") == "backward-weights");
}

TEST_CASE("a time whose result is zeros, or the same for other inputs, is mistrusted") {
  const auto reason = [](const std::string& line) {
    std::string reasons;
    for (const auto& m : bench(line, {.passes = BenchOptions::Passes::forward})) {
      if (m.metric == "time") reasons += m.reason;
      // A rate is as good as its time.
      if (m.metric == "byte_rate" && reasons.find("result") != std::string::npos) {
        CHECK(m.status == Status::mistrusted);
      }
    }
    return reasons;
  };
  using Catch::Contains;
  CHECK_THAT(reason("Mul 4 {0,0,0,0}"), Contains("the result is all zeros"));
  CHECK_THAT(reason("Softmax 8x1"), Contains("the result is the same for other inputs"));
  // Operators that ignore values, give no reals, or have given values are not judged by them.
  for (const char* line : {"Relu 64", "Shape 2x3", "Greater 4 4", "ConstantOfShape int64:{2,2}",
                           "Relu {-1,-2}", "NonZero 2x2"}) {
    INFO(line);
    CHECK_THAT(reason(line), !Contains("the result"));
  }
}
