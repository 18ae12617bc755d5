// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/manifest/manifest.hpp"
#include "d5/evaluation/predictor/predictor.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "d5/serving/http/http_server.hpp"
#include "d5/serving/inference/inference_client.hpp"
#include "d5/serving/inference/inference_service.hpp"
#include "serving/inference/inference_answer.hpp"

namespace d5 {
namespace {

using Catch::Contains;

/// The routes of models, without all else that a server has.
class ModelsOverHttp final : public HttpHandler {
 public:
  explicit ModelsOverHttp(InferenceModels& models) : models_(models) {}
  std::optional<HttpResponse> refuse(HttpRequest&) override { return std::nullopt; }
  HttpResponse answer(const HttpRequest& request) override {
    const auto& parts = request.segments;
    if (parts.size() == 1) return HttpResponse::json(detail::json_of(models_.server()).dump());
    HttpRequest asked = request;
    asked.parameters["name"] = parts.at(2);
    if (request.method == "POST") return detail::infer_over_http(asked, models_);
    return HttpResponse::json(detail::json_of(models_.model(parts.at(2))).dump());
  }

 private:
  InferenceModels& models_;
};

/// Over HTTP and, where d5 has it, over gRPC.
class BothServers {
 public:
  explicit BothServers(const InferenceOptions& options) : models(options), handler_(models) {
    models.add("lenet");
    http.emplace(handler_, HttpServerOptions{});
    try {
      grpc.emplace(models);
    } catch (const Unsupported& reason) {
      WARN(reason.what());
    }
  }
  [[nodiscard]] std::vector<std::string> addresses() const {
    std::vector<std::string> all = {http->address(), http->address().substr(7)};
    if (grpc) all.push_back(grpc->address());
    return all;
  }
  InferenceModels models;

 private:
  ModelsOverHttp handler_;

 public:
  std::optional<HttpServer> http;
  std::optional<InferenceService> grpc;
};

const ModelAssets kLenet{.model = "lenet", .network = "lenet"};

std::shared_ptr<Predictor> open_remote(const std::string& words) {
  add_remote_predictor();
  return open_predictor("remote:" + words, kLenet, {.warm_up = 0});
}

ValueMap one_image() { return random_inputs(open_model("lenet"), {.batch = 1}, 5); }

TEST_CASE("a server's answers are those of a local predictor, to the bit") {
  BothServers servers({});
  const auto local = open_predictor("reference", kLenet);
  const ValueMap image = one_image();
  const Tensor expected = local->predict(image).at("logits").tensor().copy();
  for (const std::string& address : servers.addresses()) {
    CAPTURE(address);
    const auto remote = open_remote(address);
    CHECK_THAT(remote->name(), Contains(address) && Contains("d5"));
    for (int call = 0; call < 3; ++call) {
      const ValueMap& answer = remote->predict(image);
      REQUIRE(answer.size() == 1);
      const Tensor& scores = answer.at("logits").tensor();
      REQUIRE(scores.desc() == expected.desc());
      CHECK(std::ranges::equal(scores.span<float>(), expected.span<float>()));
    }
  }
}

TEST_CASE("what a server tells of itself and its models comes over both ways") {
  BothServers servers({});
  for (const std::string& address : servers.addresses()) {
    CAPTURE(address);
    const auto client = open_inference_client(address);
    CHECK(client->server().name == "d5");
    CHECK(client->model("lenet") == servers.models.model("lenet"));
    CHECK_THROWS_WITH(client->model("lenett"), Contains("did you mean lenet"));
    CHECK_THROWS_WITH(client->infer({.model = "lenet", .version = "2", .inputs = {}}),
                      Contains("2"));
    const Tensor wrong = Tensor::zeros(DType::float32, {1, 3, 28, 28});
    CHECK_THROWS_WITH(client->infer({.model = "lenet", .inputs = {{"image", wrong}}}),
                      Contains("1x3x28x28") && Contains("?x1x28x28"));
    // The connection is none the worse.
    CHECK(client
              ->infer({.model = "lenet",
                       .id = "7",
                       .inputs = {{"image", one_image().at("image").tensor()}}})
              .id == "7");
  }
}

TEST_CASE("a model may be called otherwise at the server") {
  BothServers servers({});
  add_remote_predictor();
  const ModelAssets other{.model = "other", .network = "lenet"};
  for (const std::string& address : servers.addresses()) {
    CAPTURE(address);
    CHECK_THROWS_WITH(open_predictor("remote:" + address, other), Contains("other"));
    CHECK_NOTHROW(open_predictor("remote:" + address + "/lenet:seconds=20:version=1", other));
  }
}

TEST_CASE("a server that is gone, or late, is an error within the deadline") {
  BothServers late({.framework = "sleep:seconds=0.4"});
  for (const std::string& address : late.addresses()) {
    CAPTURE(address);
    const auto remote = open_remote(address + ":seconds=0.1");
    CHECK_THROWS_AS(remote->predict(one_image()), CommunicationError);
  }
  BothServers gone({});
  for (const std::string& address : gone.addresses()) {
    CAPTURE(address);
    const auto remote = open_remote(address + ":seconds=5");
    CHECK_NOTHROW(remote->predict(one_image()));
    if (address.starts_with("grpc")) gone.grpc->stop();
    if (address.starts_with("http")) continue;  // the same server without its scheme comes next
    if (!address.starts_with("grpc")) gone.http->stop();
    CHECK_THROWS_AS(remote->predict(one_image()), CommunicationError);
    CHECK_THROWS_AS(open_remote(address), CommunicationError);
  }
}

TEST_CASE("a malformed address is refused") {
  for (const char* words : {"", "ftp://localhost:1", "localhost:1:second=3",
                            "localhost:1:seconds=0", "http://user@localhost:1"}) {
    CAPTURE(words);
    CHECK_THROWS_AS(open_remote(words), Error);
  }
  CHECK_THROWS_WITH(open_remote("ftp://localhost:1"), Contains("grpc://"));
  CHECK_THROWS_AS(open_predictor("null:localhost:1", kLenet), ValueError);
}

TEST_CASE("a manifest that was fetched names no server to ask") {
  add_remote_predictor();
  const std::string text = R"(kind: evaluation
name: e
version: 1.0.0
models: [m]
frameworks: ["remote:10.0.0.1:80"]
)";
  const auto faults = [&](ManifestOrigin origin) {
    return lint_manifest(text, "e.yaml", origin).size();
  };
  CHECK(faults(ManifestOrigin::own) == 0);
  CHECK(faults(ManifestOrigin::fetched) == 1);
}

TEST_CASE("gRPC is not for other machines without TLS and tokens") {
  InferenceModels models;
  try {
    InferenceService service(models, {.host = "0.0.0.0"});
    FAIL("it listens");
  } catch (const ValueError& error) {
    CHECK_THAT(error.what(), Contains("tokens"));
  } catch (const Unsupported& reason) {
    WARN(reason.what());
  }
}

}  // namespace
}  // namespace d5
