// SPDX-License-Identifier: Apache-2.0
// Sources in Python are judged like compiled ones.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "d5/core/errors/error.hpp"
#include "level0_ops/judge/judged_source.hpp"
#include "tests/level0_ops/judge/judged.hpp"

using namespace d5;
using namespace d5::testing;
using Catch::Contains;

namespace {

std::string python_source(const std::string& name) {
  return (judge_folder() / "python" / (name + ".py")).string();
}

/// Whether the `python3` in $PATH, with that of the build first, has NumPy.
bool has_numpy() {
  if (const char* python = std::getenv("D5_PYTHON")) {
    const char* path = std::getenv("PATH");
    const std::string folder = std::filesystem::path(python).parent_path().string();
    setenv("PATH", (folder + ":" + (path ? path : "")).c_str(), 1);
  }
  try {
    (void)detail::prepare_source(python_source("matmul"), {});
    return true;
  } catch (const Error& error) {
    WARN("skipped: " << error.what());
    return false;
  }
}

std::vector<Measurement> judged_python(const std::string& name, const std::string& cases,
                                       const JudgeOptions& options) {
  const int before = threads();
  set_threads(1);
  auto records = judge_source(python_source(name), expand_case(cases), options);
  set_threads(before);
  return records;
}

std::string fault_of(const std::string& name) {
  const auto records = judged_python(name, "MatMul 4x5 5x3", {.samples = 9});
  CHECK(records.front().status == Status::failed);
  return condition_of(records.front(), "fault") + " | " + records.front().reason;
}

}  // namespace

TEST_CASE("a function in Python is judged forward and backward") {
  if (!has_numpy()) return;
  const auto records =
      judged_python("matmul", "MatMul 4x{n} {n}x3 for n=5,8", {.samples = 6, .gradients = true});
  REQUIRE(records.size() == 4);
  for (const Measurement& record : records) {
    INFO(record.reason);
    CHECK(condition_of(record, "answers") == "right");
    CHECK(record.samples.size() == 6);
  }
}

TEST_CASE("a function in Python gets the attributes as keywords") {
  if (!has_numpy()) return;
  const auto records = judged_python("matmul", "Softmax 3x7 axis=0", {.samples = 4});
  INFO(records.front().reason);
  CHECK(condition_of(records.front(), "answers") == "right");
}

TEST_CASE("a cheat in Python is caught by name") {
  if (!has_numpy()) return;
  CHECK_THAT(fault_of("remembers"), Contains("wrong answer |"));
  CHECK_THAT(fault_of("forks"), Contains("started a process |"));
  CHECK_THAT(fault_of("reads_the_judge"), Contains("failed |") && Contains("PermissionError"));
}

TEST_CASE("a source in Python without the case's function fails by name") {
  if (!has_numpy()) return;
  const auto records = judged_python("matmul", "Relu 3", {.samples = 2});
  CHECK_THAT(records.front().reason, Contains("no function of the case's name"));
}
