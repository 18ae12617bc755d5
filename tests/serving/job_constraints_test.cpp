// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/serving/jobs/job.hpp"

namespace d5 {
namespace {

using Catch::Contains;

AgentFacts a_machine() {
  return {.name = "rack1",
          .architecture = "x86_64",
          .cores = 16,
          .memory_bytes = std::int64_t{64} << 30,
          .instruction_sets = {"avx2", "fma"},
          .devices = {{"cpu", "a CPU"}, {"cuda:0", "a GPU"}},
          .frameworks = {{"torch", {"2.13.0+cpu", "aa"}}, {"strange", {"unknown", ""}}},
          .models = {"lenet@1.0.0"},
          .labels = {{"site", "north"}},
          .price_per_hour = 1.5};
}

TEST_CASE("an agent fits what it has, and everything that it lacks is named") {
  const AgentFacts machine = a_machine();
  CHECK(why_not({}, machine).empty());
  CHECK(why_not({.frameworks = {{"torch", ">=2.4 <3"}},
                 .architecture = "x86_64",
                 .cores = 16,
                 .memory_bytes = std::int64_t{64} << 30,
                 .instruction_sets = {"avx2"},
                 .device = "cuda",
                 .labels = {{"site", "north"}},
                 .most_per_hour = 1.5,
                 .agents = {"rack1", "rack2"}},
                machine)
            .empty());
  const auto lacks = [&](const JobConstraints& constraints, const std::string& reason) {
    CHECK(why_not(constraints, machine) == reason);
  };
  lacks({.frameworks = {{"onnxruntime", ""}}}, "it has no framework onnxruntime");
  lacks({.frameworks = {{"torch", ">=3"}}}, "framework torch is 2.13.0+cpu, but >=3 is required");
  lacks({.frameworks = {{"strange", ">=1"}}}, "framework strange is unknown, but >=1 is required");
  lacks({.architecture = "aarch64"}, "its architecture is x86_64, not aarch64");
  lacks({.cores = 17}, "it has 16 cores of 17");
  lacks({.memory_bytes = std::int64_t{65} << 30}, "its memory is 64 GiB of 65 GiB");
  lacks({.instruction_sets = {"amx"}}, "it has no amx instructions");
  lacks({.device = "cuda:1"}, "it has no device cuda:1");
  lacks({.labels = {{"site", "south"}}}, "its label site is north, not south");
  lacks({.labels = {{"rack", "1"}}}, "it has no label rack");
  lacks({.most_per_hour = 1}, "it costs 1.5 an hour, but at most 1 is allowed");
  lacks({.agents = {"rack2"}}, "it is not among rack2");
  lacks({.cores = 17, .device = "tpu"}, "it has 16 cores of 17; it has no device tpu");
  AgentFacts parallel = machine;
  parallel.parallel = 4;
  CHECK(why_not({.cores = 4, .memory_bytes = std::int64_t{16} << 30}, parallel).empty());
  CHECK(why_not({.cores = 5}, parallel) == "it has 4 cores of 5 for each of 4 at once");
  CHECK(why_not({.memory_bytes = std::int64_t{32} << 30}, parallel) ==
        "its memory is 16 GiB of 32 GiB for each of 4 at once");
  AgentFacts untold = machine;
  untold.price_per_hour = 0;
  CHECK(why_not({.most_per_hour = 1}, untold) == "its price is unknown");
}

TEST_CASE("constraints and facts read back from JSON") {
  const JobConstraints constraints{.frameworks = {{"torch", ">=2.4"}, {"reference", ""}},
                                   .cores = 2,
                                   .memory_bytes = std::int64_t{1} << 40,
                                   .labels = {{"a", "b\"<c>"}},
                                   .most_per_hour = 0.1};
  CHECK(job_constraints(to_json(constraints), "x") == constraints);
  CHECK(to_json(JobConstraints()) == "{}");
  AgentFacts machine = a_machine();
  machine.parallel = 4;
  CHECK(agent_facts(to_json(machine), "x") == machine);
  CHECK(agent_facts(R"({"name":"older"})", "x").parallel == 1);
  CHECK_THROWS_AS(agent_facts(R"({"name":"a","parallel":0})", "x"), FormatError);
}

TEST_CASE("constraints that mean nothing are refused by name") {
  CHECK_THROWS_WITH(job_constraints(R"({"core": 4})", "x"), Contains("core"));
  CHECK_THROWS_AS(job_constraints(R"({"core": 4})", "x"), NotFound);
  for (const char* text :
       {"[]", "{", R"({"cores": -1})", R"({"cores": "4"})", R"({"memory_bytes": 1e300})",
        R"({"frameworks": {"torch": "new"}})", R"({"frameworks": {"torch": ">3 <2"}})",
        R"({"labels": ["a"]})", R"({"cores": NaN})", R"({"most_per_hour": "NaN"})"}) {
    INFO(text);
    CHECK_THROWS_AS(job_constraints(text, "x"), FormatError);
  }
  CHECK_THROWS_AS(agent_facts(R"({"cores": 1})", "x"), FormatError);
  CHECK_THROWS_AS(agent_facts(R"({"name": "a", "cores": 1e300})", "x"), FormatError);
  CHECK_THROWS_AS(agent_facts(R"({"name": "a", "memory_bytes": "NaN"})", "x"), FormatError);
  CHECK_THROWS_AS(agent_facts(R"({"name": "a", "frameworks": [1]})", "x"), FormatError);
}

}  // namespace
}  // namespace d5
