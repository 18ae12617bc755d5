// SPDX-License-Identifier: Apache-2.0
// Models in processes of their own, which are d5's program.
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <thread>

#include "apps/serving/inference_options.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "d5/serving/inference/inference_models.hpp"
#include "tests/sanitizers.hpp"
#include "tests/serving/asked_server.hpp"

namespace d5 {
namespace {

using Catch::Contains;

constexpr double kNever = 1e6;  // s

// A sanitizer takes all address space, and ends the process where there is a limit.
#if defined(D5_UNDER_ADDRESS_SANITIZER) || defined(D5_UNDER_THREAD_SANITIZER)
constexpr bool kHasPlainMemory = false;
#else
constexpr bool kHasPlainMemory = true;
#endif

InferenceOptions isolated_as(const std::string& framework) {
  return {.framework = framework, .alone = {D5_PROGRAM, app::kAnswerAlone}, .first_wait = kNever};
}

Tensor asked_images(std::int64_t samples) {
  return random_inputs(open_model("lenet"), {.batch = samples}, 1).at("image").tensor();
}

Tensor ask(InferenceModels& models, std::int64_t samples = 1) {
  return models.infer({.model = "lenet", .inputs = {{"image", asked_images(samples)}}})
      .outputs.at(0)
      .tensor;
}

/// Why it did not answer.
std::string loss_of(InferenceModels& models) {
  try {
    (void)ask(models);
  } catch (const CommunicationError& error) {
    return error.what();
  }
  return "it answered";
}

TEST_CASE("the end of a model's process fails one request, and the next is answered") {
  // Opening it asks once; then it answers one request.
  const auto [how, words] = GENERATE(table<std::string, std::string>({
      {"crash", "model 'lenet': it was ended by SIGSEGV"},
      {"end", "it ended with status 3"},
      {"memory", "it ran out of memory"},
      {"hang", "it gave no answer within 2 s, and was ended"},
  }));
  CAPTURE(how);
  if (how == "memory" && !kHasPlainMemory) return;
  InferenceOptions options = isolated_as("faulty:how=" + how + ":after=2");
  if (how == "hang") options.most_seconds = 2;
  if (how == "memory") options.most_bytes = std::size_t{1} << 30;
  InferenceModels models(options);
  (void)models.add("lenet");
  for (int times = 0; times < (how == "crash" ? 5 : 1); ++times) {  // not in a row
    CHECK(ask(models).shape() == Shape{1, 1000});
    CHECK_THAT(loss_of(models), Contains(words) && Contains("begun again"));
  }
  CHECK(ask(models).shape() == Shape{1, 1000});
  CHECK(models.why_not_ready("lenet").empty());
}

TEST_CASE("a model lost three times in a row is not ready, with why, over HTTP too") {
  testing::AskedServer asked;
  auto models = std::make_shared<InferenceModels>(isolated_as("faulty:how=crash:after=1"));
  (void)models->add("lenet");
  asked.server.context().set_inference(models);
  const auto infer = [&] {
    const nlohmann::json input = {{"name", "image"},
                                  {"datatype", "FP32"},
                                  {"shape", {1, 1, 28, 28}},
                                  {"data", std::vector<float>(28 * 28)}};
    return asked.ask("POST", "/v2/models/lenet/infer", nlohmann::json{{"inputs", {input}}}.dump());
  };
  CHECK(asked.get("/v2/models/lenet/ready").status == 200);
  for (int times = 0; times < 3; ++times) {
    const auto answer = infer();
    CHECK(answer.status == 503);
    CHECK_THAT(answer.json().at("error").get<std::string>(), Contains("SIGSEGV"));
  }
  CHECK_THAT(infer().json().at("error").get<std::string>(), Contains("begun again in"));
  const auto ready = asked.get("/v2/models/lenet/ready");
  CHECK(ready.status == 503);
  CHECK(ready.json().at("ready") == false);
  CHECK_THAT(ready.json().at("error").get<std::string>(), Contains("begun again in"));
  std::map<std::string, nlohmann::json> list;
  for (const auto& one : asked.ask("POST", "/v2/repository/index").json()) {
    list[one.at("name").get<std::string>()] = one;
  }
  CHECK(list.at("lenet").at("state") == "UNAVAILABLE");
  CHECK_THAT(list.at("lenet").at("reason").get<std::string>(), Contains("SIGSEGV"));
  CHECK_THAT(list.at("efficientnet-lite0").at("reason").get<std::string>(), Contains("asked"));
  CHECK(asked.ask("POST", "/v2/repository/index", R"({"ready": true})").json().empty());
  CHECK(asked.get("/v2/health/ready").status == 200);  // other models answer
  CHECK(asked.get("/v2/models/lenet").status == 200);
}

TEST_CASE("after its wait a model is begun again by itself") {
  InferenceOptions options = isolated_as("faulty:how=crash:after=1");
  options.first_wait = 0.01;
  InferenceModels models(options);
  (void)models.add("lenet");
  for (int times = 0; times < 3; ++times) CHECK_THAT(loss_of(models), Contains("SIGSEGV"));
  for (int i = 0; i < 6000 && !models.why_not_ready("lenet").empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  CHECK(models.why_not_ready("lenet").empty());
}

TEST_CASE("requests in a batch that crashes are asked again by themselves") {
  InferenceOptions options = isolated_as("faulty:how=crash:after=2");
  options.served = {.largest_batch = 2, .longest_wait = kNever};
  InferenceModels models(options);
  (void)models.add("lenet");
  CHECK(ask(models, 2).shape() == Shape{2, 1000});
  // The batch of both crashes; begun again it answers one of them, and crashes with the other.
  std::array<std::string, 2> losses;
  std::vector<std::jthread> users;
  for (std::string& loss : losses) users.emplace_back([&] { loss = loss_of(models); });
  users.clear();
  std::ranges::sort(losses);
  CHECK(losses[0] == "it answered");
  CHECK_THAT(losses[1], Contains("SIGSEGV"));
}

TEST_CASE("what a model says in a process of its own is what it says here, to the bit") {
  InferenceOptions options = isolated_as("reference");
  options.threads = 1;
  options.served = {.instances = 2, .largest_batch = 4};
  InferenceModels models(options);
  (void)models.add("lenet");
  const auto executor = open_executor("reference", open_model("lenet"));
  executor->set_mode(NetworkMode::inference);
  const Tensor answer = ask(models, 4);
  const Tensor& here = executor->inference({{"image", asked_images(4)}}).at("logits").tensor();
  REQUIRE(answer.desc() == here.desc());
  CHECK(std::ranges::equal(answer.span<float>(), here.span<float>()));
}

TEST_CASE("what a model refuses in a process of its own is what it refuses here, and no loss") {
  InferenceModels models(isolated_as("faulty:how=fail:after=1"));
  (void)models.add("lenet");
  for (int times = 0; times < 4; ++times) {
    CHECK_THROWS_AS(ask(models), ContractError);
    CHECK(models.why_not_ready("lenet").empty());
  }
  InferenceModels absent(isolated_as("no_such_framework"));
  CHECK_THROWS_AS(absent.add("lenet"), NotFound);
  InferenceModels broken(isolated_as("faulty:how=crash"));
  CHECK_THROWS_WITH(broken.add("lenet"), Contains("'lenet' was not opened") && Contains("SIGSEGV"));
  InferenceOptions nowhere = isolated_as("reference");
  nowhere.alone = {"/nowhere/d5"};
  CHECK_THROWS_AS(InferenceModels(nowhere).add("lenet"), IoError);
}

}  // namespace
}  // namespace d5
