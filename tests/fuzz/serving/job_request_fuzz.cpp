// SPDX-License-Identifier: Apache-2.0
// Requests for evaluations are read or refused. A request that was read is submitted again as its
// own text.
#include <nlohmann/json.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/serving/jobs/job_request.hpp"
#include "fuzz/fuzzer.hpp"
#include "fuzz/json_damage.hpp"
#include "fuzz/mutation.hpp"
#include "serving/api/job_json.hpp"

namespace d5::fuzz {
namespace {

constexpr const char* kAsked = R"({"manifest": {"kind": "evaluation", "name": "e",
  "version": "1.0.0", "models": ["efficientnet-lite0"], "frameworks": ["torch", "null"],
  "scenarios": [{"name": "poisson", "rate": 5}], "batches": [1, 2], "seconds": 0.5},
  "on": "all", "priority": 3, "constraints": {"frameworks": {"torch": ">=2.4"}, "cores": 4,
  "memory_bytes": 1024, "instruction_sets": ["avx2"], "labels": {"a": "b"}, "agents": ["x"],
  "architecture": "x86_64", "device": "cpu", "most_per_hour": 1.5}})";

const std::vector<std::string>& sound() {
  static const std::vector<std::string> bodies = [] {
    // The second as an agent is sent it: with all that it names.
    const JobRequest asked = d5::detail::asked_job({.body = kAsked});
    const auto whole = nlohmann::json::parse(asked.manifest);
    return std::vector<std::string>{kAsked, nlohmann::json{{"manifest", whole}}.dump()};
  }();
  return bodies;
}

}  // namespace

std::string name() { return "job_request"; }

void prepare() { (void)sound(); }

std::string make_case(RandomStream& random) {
  const std::string& body = pick(random, sound());
  return one_in(random, 8) ? with_damage(body, random) : with_other_values(body, random);
}

std::string run_case(const std::string& text) {
  const JobRequest asked = d5::detail::asked_job({.body = text});
  const JobRequest again = job_request(asked.manifest, "again");
  if (again.key != asked.key || again.manifest != asked.manifest) return "reads back otherwise";
  const std::string constraints = to_json(asked.constraints);
  return to_json(job_constraints(constraints, "again")) == constraints
             ? ""
             : "its constraints read back otherwise";
}

}  // namespace d5::fuzz
