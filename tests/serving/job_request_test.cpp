// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/jobs/job_request.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "serving/api/job_json.hpp"
#include "tests/evaluation/toy_evaluation.hpp"

namespace d5 {
namespace {

using Catch::Contains;

TEST_CASE("a job asks for the frameworks of its evaluation, as its models will do with them") {
  const testing::ToyEvaluation toy;
  toy.write_model("assets:", "frameworks: {torch: '>=2.4 <3'}\nassets:");
  const FixedEvaluation evaluation =
      fix_evaluation({{.name = "e", .version = "1.0.0"},
                      {toy.model()},
                      "",
                      "",
                      {"torch+reference", "onnxruntime:session", "sleep:seconds=0.01", "null"}});
  const JobRequest request = job_request(evaluation);
  CHECK(request.key == evaluation.key);
  CHECK(request.manifest == evaluation.canonical);
  CHECK(request.constraints.frameworks == std::map<std::string, std::string>{{"torch", ">=2.4 <3"},
                                                                             {"reference", ""},
                                                                             {"onnxruntime", ""}});
}

TEST_CASE("what came over a network names no place of this machine") {
  const testing::ToyEvaluation toy;
  const std::string text =
      "kind: evaluation\nname: e\nversion: 1.0.0\nframeworks: ['null']\nmodels: ['";
  CHECK_THROWS_AS(job_request(text + toy.model() + "']", "the request"), FormatError);
  CHECK_THROWS_WITH(job_request(text + "/etc/passwd']", "the request"), Contains("the request:5:"));
  CHECK_THROWS_AS(job_request(text + "no-such-model']", "the request"), NotFound);
  CHECK_THROWS_AS(job_request("kind: model\nname: e", "the request"), FormatError);
  const JobRequest request = job_request(text + "efficientnet-lite0']", "the request");
  CHECK(request.constraints.frameworks.empty());
  CHECK_THAT(request.manifest, Contains("\"efficientnet-lite0\""));
}

TEST_CASE("an evaluation with all that it names comes over a network as the same, without places") {
  const JobRequest request = job_request(
      "kind: evaluation\nname: e\nversion: 1.0.0\nframeworks: [torch]\nmodels: "
      "[efficientnet-lite0]",
      "the request");
  const JobRequest again = job_request(request.manifest, "the request");
  CHECK(again.key == request.key);
  CHECK(again.manifest == request.manifest);
  CHECK(again.constraints == request.constraints);
  CHECK(again.constraints.frameworks.at("torch") == ">=2.4 <3");

  const testing::ToyEvaluation toy;  // its model's file has an address of this machine
  const FixedEvaluation own =
      fix_evaluation({{.name = "e", .version = "1.0.0"}, {toy.model()}, "", "", {"null"}});
  CHECK_THROWS_WITH(job_request(own.canonical, "the request"), Contains("toy@1.0.0-dev"));
  std::string code = request.manifest;
  code.replace(code.find("\"torch\"]"), 7, "\"./mine.so\"");
  CHECK_THROWS_WITH(job_request(code, "the request"), Contains("'frameworks' names code"));
}

TEST_CASE("a request's numbers and depth are bounded") {
  const std::string manifest =
      R"({"kind": "evaluation", "name": "e", "version": "1.0.0", "models": ["efficientnet-lite0"]})";
  const auto asked = [](const std::string& body) { return detail::asked_job({.body = body}); };
  CHECK(asked(R"({"priority": -7, "on": 2, "manifest": )" + manifest + "}").priority == -7);
  const std::string most = std::to_string(std::numeric_limits<std::uint64_t>::max());
  CHECK_THROWS_AS(asked(R"({"priority": )" + most + R"(, "manifest": )" + manifest + "}"),
                  FormatError);
  CHECK_THROWS_AS(asked(R"({"on": )" + most + R"(, "manifest": )" + manifest + "}"), FormatError);
  // More levels than a stack has room for.
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  CHECK_THROWS_AS(asked(R"({"manifest": {"a": )" + deep + "}}"), FormatError);
  CHECK_THROWS_AS(job_request(R"({"evaluation": )" + deep + "}", "the request"), FormatError);
}

}  // namespace
}  // namespace d5
