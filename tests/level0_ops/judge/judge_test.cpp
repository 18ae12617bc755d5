// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/judge/judge.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "tests/level0_ops/judge/judged.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using namespace d5::testing;
using Catch::Contains;

TEST_CASE("a right source has a time for each case, and says how it was judged") {
  const auto records = judged("controls/plain", "MatMul {n}x5 5x3 for n=4,7", {.samples = 30});
  REQUIRE(records.size() == 2);
  for (const Measurement& record : records) {
    CHECK(record.metric == "time");
    CHECK(record.samples.size() == 30);
    CHECK(std::ranges::all_of(record.samples, [](double seconds) { return seconds >= 0; }));
    CHECK(condition_of(record, "judge") == "reference in float64");
    CHECK(condition_of(record, "answers") == "right");
    CHECK(condition_of(record, "confinement") == "system calls, memory, threads, time");
    CHECK_THAT(record.command, Contains("d5 op judge") && Contains("plain.cpp"));
  }
  CHECK(condition_of(records[1], "n") == "7");
}

TEST_CASE("the clock is the judge's: a source that stops its own cannot hide 2 ms of sleep") {
  const auto records = judged("controls/own_clock", "MatMul 2x3 3x2", {.samples = 5});
  REQUIRE(records.front().samples.size() == 5);
  constexpr double kSleep = 2e-3;
  // The time of handing over, at most 1 ms, is subtracted from each.
  for (const double seconds : records.front().samples) CHECK(seconds > kSleep / 2);
  CHECK(records.front().status == Status::mistrusted);
  CHECK_THAT(records.front().reason, Contains("its processor time is"));
}

TEST_CASE("a framework beside the source is timed in between, with the ratio") {
  const auto records =
      judged("controls/plain", "MatMul 8x8 8x8", {.samples = 6, .against = {"reference"}});
  REQUIRE(records.size() == 3);
  CHECK(records[1].framework == "reference");
  CHECK(records[1].samples.size() == 6);
  CHECK(records[2].metric == "time_ratio");
  CHECK(records[2].samples.size() == 6);
  CHECK(condition_of(records[2], "base") == "reference");
  CHECK_THROWS_AS(judged("controls/plain", "MatMul 8x8 8x8", {.against = {"no_such"}}), NotFound);
}

TEST_CASE("a seed draws the same inputs again: a wrong answer repeats itself") {
  const JudgeOptions options{.samples = 3, .seed = 7};
  const auto first = judged("cheats/not_a_number", "MatMul 2x3 3x2", options);
  const auto second = judged("cheats/not_a_number", "MatMul 2x3 3x2", options);
  CHECK(first.front().reason == second.front().reason);
  const auto other = judged("cheats/not_a_number", "MatMul 2x3 3x2", {.samples = 3, .seed = 8});
  CHECK(first.front().reason != other.front().reason);
}

TEST_CASE("gradients are cases of their own, and a source without them fails these") {
  const JudgeOptions options{.samples = 4, .gradients = true, .against = {"reference"}};
  const auto right = judged("controls/gradient", "MatMul 4x5 5x3", options);
  REQUIRE(right.size() == 6);
  CHECK(condition_of(right[0], "pass") == "forward");
  CHECK(condition_of(right[3], "pass") == "backward");
  for (const Measurement& record : right) CHECK(record.samples.size() == 4);
  const auto without = judged("controls/plain", "MatMul 4x5 5x3", options);
  CHECK(without[0].status != Status::failed);
  CHECK_THAT(without[3].reason, Contains("it has no backward"));
  const auto none = judged("controls/plain", "Equal 4 4", options);
  CHECK_THAT(none[3].reason, Contains("it has no gradient"));
}

TEST_CASE("a source that fails in a call fails its case by name") {
  const auto fault_of = [](const std::string& name, const JudgeOptions& options) {
    const Measurement record = judged("faults/" + name, "MatMul 2x3 3x2", options).front();
    CHECK(record.status == Status::failed);
    return condition_of(record, "fault") + " | " + record.reason;
  };
  CHECK_THAT(fault_of("crash", {}), Contains("crashed |") && Contains("SIGABRT"));
  CHECK_THAT(fault_of("exit", {}), Contains("ended its process |"));
  CHECK_THAT(fault_of("throw", {}), Contains("failed |") && Contains("no answer today"));
  CHECK_THAT(fault_of("endless", {.call_seconds = 0.2}),
             Contains("took too long |") && Contains("0.2 s"));
  CHECK_THAT(fault_of("all_memory", {.memory = 1 << 28}), Contains("failed |"));
}

TEST_CASE("a forbidden library is a fault, and is listed otherwise") {
  const auto free = judged("faults/library_called", "MatMul 2x3 3x2", {.samples = 3});
  CHECK(free.front().status != Status::failed);
  CHECK_THAT(condition_of(free.front(), "files"), Contains("libresolv"));
  const auto forbidden =
      judged("faults/library_called", "MatMul 2x3 3x2", {.samples = 3, .forbid = {"resolv"}});
  CHECK(condition_of(forbidden.front(), "fault") == "forbidden library");
  CHECK_THAT(forbidden.front().reason, Contains("libresolv"));
}

TEST_CASE("a forbidden library that is linked into the source is found by its symbols") {
  const auto free = judged("faults/linked_blas", "MatMul 2x3 3x2", {.samples = 3});
  CHECK(free.front().status != Status::failed);
  const auto forbidden =
      judged("faults/linked_blas", "MatMul 2x3 3x2", {.samples = 3, .forbid = {"blas"}});
  CHECK(condition_of(forbidden.front(), "fault") == "forbidden symbol");
  CHECK_THAT(forbidden.front().reason, Contains("it has 'cblas_sgemm'"));
}

TEST_CASE("records carry the source's digest, the compiler and its flags") {
  const Measurement record = judged("controls/plain", "MatMul 2x3 3x2", {.samples = 2}).front();
  REQUIRE(record.artefacts.size() == 1);
  CHECK(record.artefacts.front().name == "plain.cpp");
  CHECK(record.artefacts.front().sha256 == detail::sha256_of_file(source_of("controls/plain")));
  CHECK_THAT(condition_of(record, "flags"), Contains("-O2"));
  CHECK_FALSE(condition_of(record, "compiler").empty());
}

TEST_CASE("one wrong element of a million is found in its first call") {
  const Measurement record =
      judged("faults/one_of_a_million", "MatMul 1000x1 1x1000", {.samples = 20}).front();
  CHECK(condition_of(record, "fault") == "wrong answer");
  CHECK_THAT(record.reason, Contains("call 1: "));
}

TEST_CASE("a source as text: a long prefix sum in float32 is right, and one with an error is not") {
  const auto verdict_on = [](const std::string& error) {
    const std::string text = R"(
#include "d5/abi.h"
static d5_status run(void*, const d5_call* call, d5_error*) {
  const float* x = static_cast<const float*>(call->inputs[0].data);
  float* y = static_cast<float*>(call->outputs[0].data);
  float sum = 0;
  for (long i = 0; i < call->inputs[0].dims[0]; ++i) y[i] = sum += x[i];
  y[7] += )" + error + R"(F;
  return D5_OK;
}
const d5_operator_table* d5_custom_operators() {
  static d5_operator op;
  op.domain = "mine", op.name = "CumSum", op.since_version = 1, op.forward = run;
  static const d5_operator_table table = {D5_ABI_VERSION, sizeof op, 1, &op};
  return &table;
}
)";
    return condition_of(
        judge_source(text, expand_case("CumSum 1500 int64:scalar{0}"), {.samples = 5}).front(),
        "answers");
  };
  CHECK(verdict_on("0.0") == "right");
  CHECK(verdict_on("0.1") == "wrong");
}

TEST_CASE("a case that cannot be judged is unsupported, with the reason") {
  const auto reason_of = [](const std::string& line) {
    const Measurement record = judged("controls/plain", line, {.samples = 2}).front();
    CHECK(record.status == Status::unsupported);
    return record.reason;
  };
  CHECK_THAT(reason_of("Add {1,2} {3,4}"), Contains("all inputs are given"));
  CHECK_THAT(reason_of("Add 2 2 -> {1,2}"), Contains("leave out what follows ->"));
  CHECK_THAT(reason_of("RandomNormalLike 2x3"), Contains("random numbers"));
  CHECK_THAT(reason_of("mine.Op 2x3"), Contains("no reference judges it"));
  CHECK_THAT(reason_of("NonZero 2x3"), Contains("known shapes"));
}

TEST_CASE("a source without the case's operator fails by name") {
  const auto records = judged("controls/plain", "Relu 2x3", {.samples = 2});
  CHECK(records.front().status == Status::failed);
  CHECK_THAT(records.front().reason, Contains("no operator of the case's name"));
}

TEST_CASE("a source that cannot be compiled throws, with the compiler's words or its limit") {
  const TemporaryFolder folder;
  const auto judge = [&](const std::string& text, const JudgeOptions& options) {
    write_file(folder / "source.cpp", text);
    return judge_source(folder / "source.cpp", expand_case("MatMul 2x3 3x2"), options);
  };
  CHECK_THROWS_WITH(judge("no C++", {}), Contains("cannot be compiled") && Contains("error"));
  // A constant that takes the compiler many times as long as it has.
  const std::string slow =
      "constexpr int f() { int s = 0; for (int i = 0; i < 30000000; ++i) s ^= i; return s; }\n"
      "static_assert(f() != 1);\nstatic_assert(f() != 2);\nstatic_assert(f() != 3);\n";
  CHECK_THROWS_WITH(judge(slow, {.compile_seconds = 0.5}), Contains("needs more than 0.5 s"));
  CHECK_THROWS_AS(judge_source(folder / "absent.cpp", expand_case("MatMul 2x3 3x2")), IoError);
  CHECK_THROWS_AS(judge_source(folder / "source.js", expand_case("MatMul 2x3 3x2")), Unsupported);
  CHECK_THROWS_AS(judge_source(source_of("controls/plain"), {}), ValueError);
  CHECK_THROWS_AS(judge("", {.memory = 0}), ValueError);
}
