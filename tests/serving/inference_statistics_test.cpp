// SPDX-License-Identifier: Apache-2.0
// Triton's extensions over HTTP: model configuration, statistics; and Prometheus's metrics.

#include <catch2/catch.hpp>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/serving/served_models.hpp"

namespace d5 {
namespace {

using Catch::Contains;
using nlohmann::json;
using testing::HttpAnswer;
using testing::input;
using testing::rows_of_ones;
using testing::ServedModels;

TEST_CASE("a model's configuration is Triton's: dims without the batch, unless it is fixed") {
  ServedModels serving({.instances = 2, .largest_batch = 4, .longest_wait = 0.002});
  const json any = serving.asked.get("/v2/models/scores/config").json();
  CHECK(any.at("name") == "scores");
  CHECK(any.at("backend") == "reference");
  CHECK(any.at("max_batch_size") == 4);
  CHECK(any.at("input").at(0).at("name") == "x");
  CHECK(any.at("input").at(0).at("data_type") == "TYPE_FP32");
  CHECK(any.at("input").at(0).at("dims") == json{3});
  CHECK(any.at("output").at(0).at("dims") == json{3});
  CHECK(any.at("instance_group").at(0).at("count") == 2);
  CHECK(any.at("dynamic_batching").at("max_queue_delay_microseconds") == 2000);
  CHECK(any == serving.asked.get("/v2/models/scores/versions/1/config").json());
  const json fixed = serving.asked.get("/v2/models/pair/config").json();
  CHECK(fixed.at("max_batch_size") == 0);
  CHECK(fixed.at("input").at(0).at("dims") == json{2, 3});
}

TEST_CASE("statistics count requests, samples and executions") {
  ServedModels serving;
  REQUIRE(serving.infer("scores", rows_of_ones(3)).status == 200);  // in one batch
  REQUIRE(serving.infer("scores", rows_of_ones(6)).status == 200);  // in batches of 4 and 2
  CHECK(serving.infer("scores", {{"inputs", {input("x", {1, 2}, {1, 2})}}}).status == 400);
  const json model = serving.model_statistics("scores");
  CHECK(model.at("name") == "scores");
  CHECK(model.at("version") == "1");
  CHECK(model.at("inference_count") == 9);
  CHECK(model.at("execution_count") == 3);
  CHECK(model.at("last_inference").get<std::int64_t>() > 1'700'000'000'000);
  const json& times = model.at("inference_stats");
  const auto ns = [&](const char* name) { return times.at(name).at("ns").get<std::int64_t>(); };
  for (const char* name :
       {"success", "queue", "compute_input", "compute_infer", "compute_output"}) {
    CAPTURE(name);
    CHECK(times.at(name).at("count") == 2);
    CHECK(ns(name) > 0);
  }
  CHECK(times.at("fail").at("count") == 1);
  // A request is queued, and then executed.
  CHECK(ns("success") >=
        ns("queue") + ns("compute_input") + ns("compute_infer") + ns("compute_output"));
  std::map<int, int> executions;
  for (const json& batch : model.at("batch_stats")) {
    executions[batch.at("batch_size").get<int>()] =
        batch.at("compute_infer").at("count").get<int>();
  }
  CHECK(executions == std::map<int, int>{{2, 1}, {3, 1}, {4, 1}});

  const json all = serving.asked.get("/v2/models/stats").json().at("model_stats");
  REQUIRE(all.size() == 3);
  CHECK(all.at(0).at("name") == "pair");
  CHECK(all.at(0).at("inference_count") == 0);
  // A model of the catalogue is not opened by asking.
  CHECK(serving.model_statistics("efficientnet-lite0").at("inference_count") == 0);
  CHECK(serving.asked.get("/v2/models/stats").json().at("model_stats").size() == 3);
}

TEST_CASE("statistics are right while many ask at once") {
  ServedModels serving;
  constexpr int kUsers = 8, kTimes = 5;
  {
    std::vector<std::jthread> users;
    for (int user = 0; user < kUsers; ++user) {
      users.emplace_back([&, user] {
        for (int i = 0; i < kTimes; ++i) {
          (void)serving.infer("scores", rows_of_ones(1 + user));
          (void)serving.asked.get(i % 2 ? "/metrics" : "/v2/models/stats");
        }
      });
    }
  }
  const json model = serving.model_statistics("scores");
  CHECK(model.at("inference_count") == kTimes * kUsers * (kUsers + 1) / 2);
  CHECK(model.at("inference_stats").at("success").at("count") == kUsers * kTimes);
  std::int64_t samples = 0, executions = 0;
  for (const json& batch : model.at("batch_stats")) {
    const auto count = batch.at("compute_infer").at("count").get<std::int64_t>();
    executions += count;
    samples += count * batch.at("batch_size").get<std::int64_t>();
  }
  CHECK(samples == model.at("inference_count"));
  CHECK(executions == model.at("execution_count"));
}

TEST_CASE("metrics are Prometheus's text: counters, histograms of latency, the queue's depth") {
  ServedModels serving;
  REQUIRE(serving.infer("scores", rows_of_ones(3)).status == 200);
  CHECK(serving.infer("scores", {{"inputs", json::array()}}).status == 400);
  const HttpAnswer answer = serving.asked.get("/metrics");
  CHECK_THAT(answer.head, Contains("Content-Type: text/plain; version=0.0.4"));
  std::map<std::string, double> samples;
  std::istringstream lines(answer.body);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    const auto space = line.rfind(' ');
    samples[line.substr(0, space)] = std::stod(line.substr(space + 1));
  }
  const auto value = [&](const std::string& name, const std::string& more = "") {
    const std::string sample = name + R"({model="scores",version="1")" + more + "}";
    CAPTURE(sample);
    REQUIRE(samples.contains(sample));
    return samples.at(sample);
  };
  CHECK(value("d5_inference_requests_total", R"(,result="success")") == 1);
  CHECK(value("d5_inference_requests_total", R"(,result="fail")") == 1);
  CHECK(value("d5_inference_samples_total") == 3);
  CHECK(value("d5_inference_executions_total") == 1);
  CHECK(value("d5_inference_waiting_requests") == 0);
  CHECK(value("d5_inference_compute_seconds_total", R"(,step="infer")") > 0);
  CHECK(value("d5_inference_request_seconds_count") == 1);
  CHECK(value("d5_inference_request_seconds_bucket", R"(,le="+Inf")") == 1);
  CHECK(value("d5_inference_request_seconds_sum") >= value("d5_inference_queue_seconds_sum"));
  CHECK(value("d5_inference_request_seconds_bucket", R"(,le="0.0005")") <=
        value("d5_inference_request_seconds_bucket", R"(,le="10")"));
}

}  // namespace
}  // namespace d5
