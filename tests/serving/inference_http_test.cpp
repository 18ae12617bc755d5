// SPDX-License-Identifier: Apache-2.0
// Refusals and bodies of the Open Inference Protocol over HTTP.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>

#include "d5/serving/api/access_tokens.hpp"
#include "tests/serving/served_models.hpp"

namespace d5 {
namespace {

using Catch::Contains;
using nlohmann::json;
using testing::HttpAnswer;
using testing::input;
using testing::rows_of_ones;
using testing::ServedModels;

/// Fails unless it is the protocol's error.
std::string error_of(const HttpAnswer& answer) {
  INFO(answer.head << answer.body);
  REQUIRE_THAT(answer.head, Contains("application/json"));
  REQUIRE(answer.json().size() == 1);
  return answer.json().at("error").get<std::string>();
}

TEST_CASE("an error below /v2 is the protocol's, from the router and from a route") {
  ServedModels serving;
  const auto refused = [&](const std::string& method, const std::string& target, int status,
                           const std::string& body = {}, const std::string& headers = {}) {
    CAPTURE(method, target, body, headers);
    const HttpAnswer answer = serving.asked.ask(method, target, body, headers);
    CHECK(answer.status == status);
    return error_of(answer);
  };
  const std::string infer = "/v2/models/scores/infer";
  CHECK_THAT(refused("GET", "/v2/nowhere", 404), Contains("/v2/nowhere"));
  CHECK_THAT(refused("GET", infer, 405), Contains("POST"));
  CHECK_THAT(refused("OPTIONS", "/v2/models/scores", 405), Contains("GET"));
  CHECK_THAT(refused("GET", "/v2/models/%zz", 400), Contains("hexadecimal"));
  CHECK_THAT(refused("GET", "/v2/models/scores?verbose=1", 400), Contains("verbose"));
  CHECK_THAT(refused("GET", "/v2/models/score", 404), Contains("did you mean scores"));
  CHECK_THAT(refused("GET", "/v2/models/scores/versions/7/config", 404), Contains("version"));
  CHECK_THAT(refused("GET", "/v2/models/score/stats", 404), Contains("did you mean scores"));
  CHECK_THAT(refused("GET", "/v2/models/efficientnet-lite0/versions/7/stats", 404),
             Contains("version"));
  CHECK_THAT(refused("POST", "/v2/models/score/infer", 404, "{"), Contains("scores"));
  CHECK_THAT(refused("POST", infer, 400, "{"), Contains("no JSON"));
  CHECK_THAT(refused("POST", infer, 400, rows_of_ones(1).dump(),
                     "Inference-Header-Content-Length: 9999\r\n"),
             Contains("9999 bytes are JSON"));
  CHECK_THAT(refused("POST", infer, 415, rows_of_ones(1).dump(), "Content-Encoding: gzip\r\n"),
             Contains("'gzip', expected identity"));
  CHECK_THAT(refused("POST", "/v2/repository/index", 400, "[]"), Contains("object"));
  CHECK_THAT(refused("POST", "/v2/repository/index", 400, R"({"raedy": true})"),
             Contains("did you mean ready"));
  CHECK_THAT(refused("GET", "/v2/models/scores", 403, "", "Origin: http://elsewhere\r\n"),
             Contains("another server"));
  const HttpAnswer problem = serving.asked.get("/v1/nowhere");
  CHECK_THAT(problem.head, Contains("application/problem+json"));  // elsewhere it is a problem
  CHECK(serving.asked.ask("HEAD", "/v2/models/scores/stats").status == 200);
  CHECK(serving.asked.ask("HEAD", "/v2/models/scores/stats").body.empty());
  CHECK(serving.asked.ask("POST", infer, rows_of_ones(1).dump(), "Content-Encoding: identity\r\n")
            .status == 200);

  testing::AskedServer none;  // a server without models
  const HttpAnswer answer = none.get("/v2/models/stats");
  CHECK(answer.status == 503);
  CHECK_THAT(error_of(answer), Contains("no models"));
}

TEST_CASE("a body below /v2 in a token's server is refused in the protocol's words, too") {
  const testing::TemporaryFolder folder;
  const std::string file = folder / "tokens.json";
  (void)AccessTokens::add(file, "view", ServingRole::view);
  testing::AskedServer asked(file);
  CHECK(asked.get("/v2/models/stats").status == 401);
  CHECK_THAT(error_of(asked.get("/v2/models/stats")), Contains("Bearer"));
  CHECK_THAT(asked.get("/v2/models/stats").head, Contains("WWW-Authenticate: Bearer"));
}

TEST_CASE("a body may be as long as the model's inputs are") {
  ServedModels serving;
  constexpr std::size_t kPhotos = 20, kElements = kPhotos * 3 * 224 * 224;
  const std::string url = "/v2/models/photo/infer";
  const json head = {{"inputs",
                      {{{"name", "image"},
                        {"datatype", "FP32"},
                        {"shape", {kPhotos, 3, 224, 224}},
                        {"parameters", {{"binary_data_size", kElements * 4}}}}}}};
  const std::string text = head.dump();
  const HttpAnswer bytes =
      serving.asked.ask("POST", url, text + std::string(kElements * 4, '\0'),
                        fmt::format("Inference-Header-Content-Length: {}\r\n", text.size()));
  INFO(bytes.body.substr(0, 200));
  CHECK(bytes.status == 200);

  std::string long_text = fmt::format(
      R"({{"inputs": [{{"name": "image", "datatype": "FP32", "shape": [{}, 3, 224, 224], "data": [0)",
      kPhotos);
  for (std::size_t i = 1; i < kElements; ++i) long_text += ",0.5";
  const HttpAnswer answer = serving.asked.ask("POST", url, long_text + "]}]}");
  CHECK(answer.status == 200);
  CHECK(answer.json().at("outputs").at(0).at("shape") == json{kPhotos, 3, 1, 1});

  // 32 photographs as JSON, and what a server takes anyway; a model of small inputs takes that.
  constexpr std::size_t kMost = 32 * 26 * 3 * 224 * 224 + (8 << 20);
  const auto announced = [&](const std::string& address, std::size_t count) {
    return serving.asked.ask("POST", address, "",
                             fmt::format("Expect: 100-continue\r\nContent-Length: {}\r\n", count));
  };
  CHECK_THAT(error_of(announced(url, kMost + 1)), Contains(fmt::format("at most {} are", kMost)));
  CHECK(announced("/v2/models/scores/infer", 9 << 20).status == 413);
  CHECK(announced("/v2/models/score/infer", 9 << 20).status == 404);
  CHECK(announced("/v1/jobs", 9 << 20).status == 413);
}

TEST_CASE("an output is answered as its best classes where they are asked for") {
  ServedModels serving;
  json body = {{"inputs", {input("x", {2, 3}, {0.5, 0.25, 2, 3, 1, 2})}},
               {"outputs", {{{"name", "y"}, {"parameters", {{"classification", 2}}}}}}};
  const HttpAnswer answer = serving.infer("scores", body);
  REQUIRE(answer.status == 200);
  const json output = answer.json().at("outputs").at(0);
  CHECK(output.at("datatype") == "BYTES");
  CHECK(output.at("shape") == json{2, 2});
  CHECK(output.at("data") == json{"2:2", "0.5:0", "3:0", "2:2"});
  body["outputs"][0]["parameters"]["classification"] = -1;
  CHECK(serving.infer("scores", body).status == 400);
}

TEST_CASE("a wrong name in a request is 400 and named, and a missing input too") {
  ServedModels serving;
  const auto refused = [&](const json& body) {
    const HttpAnswer answer = serving.infer("scores", body);
    CHECK(answer.status == 400);
    return error_of(answer);
  };
  CHECK_THAT(refused({{"inputs", json::array()}}), Contains("input 'x' is missing"));
  CHECK_THAT(refused({{"inputs", {input("z", {1, 3}, {1, 2, 3})}}}), Contains("'z' is unknown"));
  json body = rows_of_ones(1);
  body["outputs"] = {{{"name", "z"}}};
  CHECK_THAT(refused(body), Contains("output of model 'scores' 'z' is unknown"));
  body = rows_of_ones(1);
  body["inputs"][0]["datatype"] = "FP23";
  CHECK_THAT(refused(body), Contains("FP32"));
  body = rows_of_ones(1);
  body["parameters"]["sequence_id"] = 7;
  CHECK_THAT(refused(body), Contains("'sequence_id' is unknown"));
}

}  // namespace
}  // namespace d5
