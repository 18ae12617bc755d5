// SPDX-License-Identifier: Apache-2.0
// Operators of a user's own through the program: built, loaded, and kept apart where they may
// crash.
#include "d5/core/results/results.hpp"
#include "tests/apps/program_run.hpp"

using namespace d5;
using Catch::Contains;
using d5::testing::run_d5;
using d5::testing::TemporaryFolder;

namespace {

std::string source(const std::string& file) {
  const char* folder = std::getenv("D5_SOURCE_DIR");
  if (!folder) FAIL("D5_SOURCE_DIR is not set; run this test through ctest");
  return std::string(folder) + "/" + file;
}

std::string log_cosh() { return source("examples/101_custom_operator/log_cosh.cpp"); }

/// The record of a case and a test, "forward" or "gradient".
const Measurement& find(const Results& results, const std::string& subject,
                        const std::string& test) {
  for (const auto& record : results.measurements) {
    if (record.subject == subject && record.conditions.at("test") == test) return record;
  }
  FAIL("no record of " << subject << ", " << test);
  return results.measurements.front();
}

}  // namespace

TEST_CASE("op build prints the library, which --load takes like its source") {
  const TemporaryFolder folder;
  setenv("XDG_CACHE_HOME", (folder / "cache").c_str(), 1);
  const std::string library = folder / "mine.so";
  const auto built = run_d5("op build " + log_cosh() + " -o " + library);
  CHECK(built.status == 0);
  CHECK(built.out == library + "\n");
  CHECK_THAT(built.err, Contains("operators example.LogCosh"));
  for (const auto& loaded : {library, log_cosh()}) {
    const auto run = run_d5("op check --load " + loaded +
                            " 'example.LogCosh 3x4' 'example.LogCosh {0} -> {0}' --format csv");
    INFO(run.err);
    CHECK(run.status == 0);
    CHECK_THAT(run.out, Contains("passed") && Contains("there are no expected values"));
  }
  CHECK_THAT(run_d5("list operators --load " + log_cosh()).out, Contains("example.LogCosh"));

  testing::write(folder / "wrong.cpp", "int x = ;\n");
  const auto wrong = run_d5("op build " + (folder / "wrong.cpp"));
  CHECK(wrong.status == 2);
  CHECK_THAT(wrong.err, Contains("wrong.cpp:1:9: error:"));
}

TEST_CASE("a Python file is loaded, or the error says what this d5 lacks for it") {
  const TemporaryFolder folder;
  testing::write(folder / "mine.py", "");
  const auto run = run_d5("list samplers --load " + (folder / "mine.py"));
  INFO(run.err);
  if (run.status == 0) return;
  CHECK(run.status == 2);
  CHECK_THAT(run.err, Contains("without the loader of Python files") ||  // or without Python's d5
                          Contains("Python files need the module d5"));
}

TEST_CASE("isolated, an operator that crashes or hangs is a failed row, and the run goes on") {
  const TemporaryFolder folder;
  setenv("XDG_CACHE_HOME", (folder / "cache").c_str(), 1);
  testing::write(folder / "cases.txt",
                 "faulty.Crash 2\nfaulty.CrashBackward 2\nfaulty.Throw 2\nfaulty.Leave 2\n"
                 "faulty.Hang 2\nfaulty.Overrun 3\nfaulty.Right {1,2} -> {1,2}\n");
  const auto run =
      run_d5("op check --load " + source("tests/apps/faulty_operators.cpp") + " --isolate 5 " +
             (folder / "cases.txt") + " --out " + (folder / "r.json"));
  INFO(run.err);
  CHECK(run.status == 1);
  const Results results = read_results(folder / "r.json");
  const auto reason = [&](const std::string& subject, const std::string& test = "forward") {
    const Measurement& record = find(results, subject, test);
    CHECK(record.status == Status::failed);
    CHECK_THAT(record.command, Contains("--isolate 5"));
    return record.reason;
  };
  CHECK_THAT(reason("faulty.Crash 2"), Contains("SIGSEGV"));
  CHECK(find(results, "faulty.CrashBackward 2", "forward").status == Status::skipped);
  CHECK_THAT(reason("faulty.CrashBackward 2", "gradient"), Contains("SIGSEGV"));
  CHECK_THAT(reason("faulty.Throw 2"), Contains("my fault"));
  CHECK_THAT(reason("faulty.Leave 2"), Contains("status 0"));
  CHECK_THAT(reason("faulty.Hang 2"), Contains("no answer within 5 s"));
  CHECK_THAT(reason("faulty.Overrun 3"), Contains("output 0"));
  CHECK(find(results, "faulty.Right {1,2} -> {1,2}", "forward").status == Status::passed);
  CHECK(find(results, "faulty.Right {1,2} -> {1,2}", "gradient").status == Status::passed);
}

TEST_CASE("op bench keeps cases apart, too") {
  const TemporaryFolder folder;
  setenv("XDG_CACHE_HOME", (folder / "cache").c_str(), 1);
  const auto run = run_d5("op bench --load " + source("tests/apps/faulty_operators.cpp") +
                          " 'faulty.CrashBackward 2' 'faulty.Right 2' --isolate 50 --samples 30 "
                          "--quiet --format jsonl --out " +
                          (folder / "r.json"));
  CHECK(run.status == 1);
  std::size_t crashed = 0, measured = 0;
  for (const auto& record : read_results(folder / "r.json").measurements) {
    if (record.status == Status::failed) {
      CHECK_THAT(record.reason, Contains("SIGSEGV"));
      CHECK(record.conditions.at("pass") == "backward");
      ++crashed;
    } else if (record.metric == "time") {
      CHECK(record.samples.size() == 30);
      ++measured;
    }
  }
  CHECK(crashed == 1);
  CHECK(measured == 3);  // forward of both, backward of the right one
}

TEST_CASE("work that cannot be isolated is refused") {
  const auto run = run_d5("op check 'Relu 2' --isolate 5 --device cuda");
  CHECK(run.status == 2);
  CHECK_THAT(run.err, Contains("--isolate") && Contains("--device cuda"));
  CHECK(run_d5("op check 'Relu 2' --isolate 0").status == 2);
}
