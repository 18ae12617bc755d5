// SPDX-License-Identifier: Apache-2.0
// Whatever a framework does, its own row says so, and the others are as without it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "d5/core/entries/loadable_frameworks.hpp"
#include "d5/level0_ops/bench/bench.hpp"

using namespace d5;
using Catch::Contains;

namespace {

/// The plug-ins of tests lie beside this program.
const bool path_is_set = [] {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "plugins";
  return setenv("D5_PLUGIN_PATH", folder.c_str(), 1) == 0;
}();

struct Fault {
  const char *line, *reason;
  bool needs_a_process = false;
  bool needs_a_guard = false;  ///< without one it harms this process, or nobody finds it
};
const std::vector<Fault> kFaults = {{"Relu 2x3", "out of luck"},
                                    {"Tanh 2x3", "an exception of a type that d5 does not know"},
                                    {"Sigmoid 2x3", "replaced output 0"},
                                    {"NonZero 2x3", "1x1"},
                                    {"Abs 2x3", "nan"},
                                    {"Neg 2x3", "wrote past output 0", false, true},
                                    {"Exp 2x3", "wrote past output 0", false, true},
                                    {"Sinh 2x3", "SIGSEGV", true, true},
                                    {"Cosh 2x3", "SIGSEGV", true, true},
                                    {"Floor 2x3", "changed input 0"},
                                    {"Sin 2x3", "an exception of a type that d5 does not know"},
                                    {"Cos 2x3", "no plan"},
                                    {"Ceil 2x3", "SIGSEGV", true},
                                    {"Round 2x3", "SIGABRT", true}};

bool has_failed(const Measurement& one) { return one.status == Status::failed; }

}  // namespace

TEST_CASE("a framework's fault is a failed row that names it") {
  REQUIRE(path_is_set);
  for (const auto& [line, reason, needs_a_process, needs_a_guard] : kFaults) {
    const Isolation isolation{.most_seconds = needs_a_process ? 100.0 : 0.0};
    const auto rows = test_forward(parse_case(line), "misbehaving", {.isolation = isolation});
    INFO(line);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].status == Status::failed);
    CHECK(rows[0].framework == "misbehaving");
    CHECK_THAT(rows[0].reason, Contains(reason));
  }
  CHECK(test_forward(parse_case("Identity 2x3"), "misbehaving").at(0).status == Status::passed);
}

TEST_CASE("a backward pass that throws what is no exception is a failed row") {
  const auto rows = test_gradient(parse_case("Identity 2x3"), "misbehaving");
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].status == Status::failed);
}

TEST_CASE("beside a framework with a fault the others are measured") {
  for (const auto& [line, reason, needs_a_process, needs_a_guard] : kFaults) {
    if (needs_a_guard) continue;
    const Isolation isolation{.most_seconds = needs_a_process ? 100.0 : 0.0};
    const auto rows = bench(line, {.frameworks = {"misbehaving", "reference"},
                                   .passes = BenchOptions::Passes::forward,
                                   .measuring = {.samples = 1},
                                   .isolation = isolation});
    INFO(line);
    const auto failed = std::ranges::find_if(rows, has_failed);
    REQUIRE(failed != rows.end());
    CHECK(failed->framework == "misbehaving");
    // Its time may be failed for wrong answers; the reason for these is reported, too.
    CHECK(std::ranges::any_of(rows, [&](const Measurement& one) {
      return has_failed(one) && one.reason.find(reason) != std::string::npos;
    }));
    CHECK_THAT(failed->command, Contains("--framework misbehaving,reference"));
    const auto measured = std::ranges::count_if(rows, [](const Measurement& one) {
      return one.framework == "reference" && one.metric == "time" && one.samples.size() == 1;
    });
    CHECK(measured == 1);
  }
}

TEST_CASE("all frameworks are those with operators that can be loaded, each once") {
  const auto words = operator_words({"misbehaving", "all"});
  CHECK(words.front() == "misbehaving");
  CHECK(words.at(1) == "reference");
  CHECK(std::ranges::count(words, "misbehaving") == 1);
  CHECK(std::ranges::count(words, "toy") == 1);
  CHECK(std::ranges::count(words, "numbers") == 0);  // it has no operators
  CHECK(std::ranges::count(words, "throws") == 0);   // it cannot be loaded
  CHECK(operator_words({"toy", "reference"}) == std::vector<std::string>{"toy", "reference"});
  CHECK_THROWS_WITH(operator_words({"referense"}), Catch::Contains("did you mean reference"));
}
