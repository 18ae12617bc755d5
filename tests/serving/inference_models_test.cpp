// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/inference/inference_models.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <thread>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "serving/inference/request_rows.hpp"
#include "tests/temporary_folder.hpp"

namespace d5 {
namespace {

using Catch::Contains;

Tensor images(std::int64_t samples, std::uint64_t seed) {
  return random_inputs(open_model("lenet"), {.batch = samples}, seed).at("image").tensor();
}

/// Scores of a local executor, one request at a time.
Tensor scores_of(const Tensor& images) {
  static const auto executor = open_executor("reference", open_model("lenet"));
  executor->set_mode(NetworkMode::inference);
  return executor->inference({{"image", images}}).at("logits").tensor().copy();
}

bool same(const Tensor& a, const Tensor& b) {
  return a.desc() == b.desc() && std::ranges::equal(a.span<float>(), b.span<float>());
}

/// x * 2 of what has `rows` rows, or any.
std::string doubling_model(const std::string& file, onnx::Dim rows) {
  Network network("doubling");
  network.add_input("x", DType::float32, {rows, std::string("width")});
  network.add_node("Add", {"x", "x"}, {"y"});
  network.add_output("y");
  static const testing::TemporaryFolder folder;
  network.save(folder / file);
  return folder / file;
}

std::string words_of(const std::exception_ptr& fault) {
  try {
    if (fault) std::rethrow_exception(fault);
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

TEST_CASE("a model is described as the network is") {
  InferenceModels models;
  CHECK(models.add("lenet") == "lenet");
  const InferenceModelInfo info = models.model("lenet");
  CHECK(info.versions == std::vector<std::string>{"1"});
  CHECK(info.inputs == std::vector<InferenceTensorInfo>{{"image", "FP32", {-1, 1, 28, 28}}});
  CHECK(info.outputs == std::vector<InferenceTensorInfo>{{"logits", "FP32", {-1, 10}}});
  CHECK_THROWS_AS(models.add("lenet"), ValueError);
}

/// Asked by several users at once, each for one more sample than the one before.
std::vector<Tensor> answers_to(InferenceModels& models, const std::string& model,
                               const std::vector<InferenceTensor>& asked) {
  std::vector<Tensor> answered(asked.size());
  std::vector<std::jthread> users;
  for (std::size_t user = 0; user < asked.size(); ++user) {
    users.emplace_back([&, user] {
      answered[user] = models.infer({.model = model, .inputs = {asked[user]}}).outputs.at(0).tensor;
    });
  }
  users.clear();
  return answered;
}

TEST_CASE("a sample by itself is answered as a local executor does, to the bit") {
  InferenceModels models({.threads = 1, .served = {.instances = 2, .largest_batch = 1}});
  models.add("lenet");
  std::vector<InferenceTensor> asked;
  for (std::int64_t user = 0; user < 5; ++user) {
    asked.push_back({"image", images(1 + user, std::uint64_t(user))});
  }
  const auto answered = answers_to(models, "lenet", asked);
  for (std::size_t user = 0; user < asked.size(); ++user) {
    REQUIRE(answered[user].shape() == Shape{1 + std::int64_t(user), 10});
    for (std::int64_t row = 0; row <= std::int64_t(user); ++row) {
      CAPTURE(user, row);
      const Tensor image = asked[user].tensor.slice(row, row + 1).copy();
      CHECK(same(answered[user].slice(row, row + 1), scores_of(image)));
    }
  }
}

TEST_CASE("each user is answered what was asked, whatever the batches") {
  const std::int64_t largest = GENERATE(1, 4, 64);
  InferenceModels models(
      {.threads = 1, .served = {.instances = 2, .largest_batch = largest, .longest_wait = 0.001}});
  models.add(doubling_model("any.onnx", std::string("N")));
  std::vector<InferenceTensor> asked;
  for (std::int64_t user = 0; user < 8; ++user) {
    Tensor x = Tensor::empty(DType::float32, {1 + user, 1 + user % 2});  // widths 1 and 2
    for (std::int64_t i = 0; i < x.elements(); ++i) x.span<float>()[i] = float(100 * user + i);
    asked.push_back({"x", x});
  }
  const auto answered = answers_to(models, "any", asked);
  for (std::size_t user = 0; user < asked.size(); ++user) {
    CAPTURE(largest, user);
    REQUIRE(answered[user].shape() == asked[user].tensor.shape());
    for (std::int64_t i = 0; i < answered[user].elements(); ++i) {
      CHECK(answered[user].span<float>()[i] == 2 * asked[user].tensor.span<float>()[i]);
    }
  }
}

TEST_CASE("samples without elements are refused: a request of no bytes could have any number") {
  InferenceModels models;
  models.add(doubling_model("empty.onnx", std::string("N")));
  const InferenceTensor x{"x", Tensor::empty(DType::float32, {1000, 0})};
  CHECK_THROWS_WITH(models.infer({.model = "empty", .inputs = {x}}),
                    Contains("input 'x' is 1000x0, expected samples with elements"));
}

TEST_CASE("a request of more samples than a server keeps in its line is refused with a way out") {
  InferenceModels models;
  models.add(doubling_model("many.onnx", std::string("N")));
  const auto ask = [&](const std::string& model, std::int64_t samples) {
    return models.infer(
        {.model = model, .inputs = {{"x", Tensor::zeros(DType::float32, {samples, 1})}}});
  };
  CHECK_THROWS_WITH(ask("many", 65'537),
                    Contains("model 'many': 65537 samples in one request, at most 65536; ask for "
                             "them in several requests"));
  CHECK_THROWS_AS(ask("many", std::int64_t{8} << 20), ShapeError);
  CHECK(ask("many", 300).outputs.at(0).tensor.shape() == Shape{300, 1});
}

TEST_CASE("inputs that do not fit a model are refused with both sides") {
  InferenceModels models;
  models.add("lenet");
  const auto ask = [&](InferenceTensor input) {
    return models.infer({.model = "lenet", .inputs = {std::move(input)}});
  };
  CHECK_THROWS_WITH(ask({"imag", images(1, 0)}), Contains("image"));
  CHECK_THROWS_WITH(ask({"image", Tensor::zeros(DType::int8, {1, 1, 28, 28})}),
                    Contains("input 'image' is INT8, expected FP32"));
  CHECK_THROWS_WITH(ask({"image", Tensor::zeros(DType::float32, {1, 28, 28})}),
                    Contains("is 1x28x28, expected ?x1x28x28"));
  CHECK_THROWS_AS(ask({"image", Tensor::zeros(DType::float32, {0, 1, 28, 28})}), ShapeError);
  CHECK_THROWS_AS(models.infer({.model = "lenet"}), NotFound);
  CHECK_THROWS_AS(models.infer({.model = "lenet",
                                .inputs = {{"image", images(1, 0)}, {"image", images(1, 0)}}}),
                  ValueError);
  CHECK_THROWS_WITH(
      models.infer({.model = "lenet", .inputs = {{"image", images(1, 0)}}, .outputs = {"logit"}}),
      Contains("did you mean logits"));
}

TEST_CASE("requests name models, neither files nor words of d5's") {
  const std::string file = doubling_model("named.onnx", std::string("N"));
  InferenceModels models;
  models.add(file);
  CHECK(models.model("named").inputs[0].shape == std::vector<std::int64_t>{-1, -1});
  for (const std::string& name :
       {file, std::string("lenet"), std::string("../named"), std::string("Relu 2x3"),
        std::string("data/models/efficientnet-lite0.yaml"), std::string()}) {
    CAPTURE(name);
    CHECK_THROWS_AS(models.model(name), NotFound);
  }
  CHECK_THROWS_AS(models.model("named", "2"), NotFound);
}

TEST_CASE("a network of a fixed batch takes that batch, and no other") {
  InferenceModels models({.served = {.largest_batch = 8}});
  models.add(doubling_model("three.onnx", std::int64_t{3}));
  const auto ask = [&](const Shape& shape) {
    Tensor ones = Tensor::zeros(DType::float32, shape);
    std::ranges::fill(ones.span<float>(), 1.0f);
    return models.infer({.model = "three", .inputs = {{"x", ones}}}).outputs.at(0).tensor;
  };
  const Tensor doubled = ask({3, 2});
  CHECK(doubled.shape() == Shape{3, 2});
  CHECK(std::ranges::all_of(doubled.span<float>(), [](float y) { return y == 2.0f; }));
  CHECK_THROWS_AS(ask({1, 2}), ShapeError);
}

TEST_CASE("requests are answered together where they are alike, and a bad one fails alone") {
  using detail::RowRange;
  const auto request = [](std::vector<float> rows, std::int64_t width) {
    const auto count = std::int64_t(rows.size()) / width;
    return detail::RequestRows{
        {{"x", Tensor::of<float>({count, width}, std::span<const float>(rows))}}, count};
  };
  const auto a = request({1, 2, 3}, 1), b = request({4}, 1), bad = request({-1}, 1),
             wide = request({5, 6}, 2);
  std::vector<std::string> calls;
  ValueMap outputs;
  const auto negated = [&](const ValueMap& inputs) -> const ValueMap& {
    Tensor y = inputs.at("x").tensor().copy();
    calls.push_back(to_string(y.shape()));
    for (float& one : y.span<float>()) {
      if (one < 0) throw ValueError("below 0");
      one = -one;
    }
    outputs = {{"y", y}};
    return outputs;
  };
  const auto answered = detail::answer_rows(
      detail::joined(std::vector<RowRange>{
          {&a, 1, 2}, {&a, 2, 3}, {&b, 0, 1}, {&wide, 0, 1}, {&bad, 0, 1}, {&b, 0, 1}}),
      negated);
  const auto& answers = answered.answers;
  // 2 rows of a and 1 of b; the wide one; bad and b, which fail, and then each by itself.
  CHECK(calls == std::vector<std::string>{"3x1", "1x2", "2x1", "1x1", "1x1"});
  REQUIRE(answers.size() == 5);
  CHECK(answers[0].outputs.at("y").tensor().span<float>()[1] == -3);
  CHECK(answers[1].outputs.at("y").tensor().span<float>()[0] == -4);
  CHECK(answers[2].outputs.at("y").tensor().shape() == Shape{1, 2});
  CHECK(words_of(answers[3].fault) == "below 0");
  CHECK(!answers[4].fault);
  // The calls that gave outputs, by their rows.
  REQUIRE(answered.executions.size() == 3);
  CHECK(answered.executions[0].rows == 3);
  CHECK(answered.executions[1].rows == 1);
  CHECK(answers[1].execution.rows == 3);
  CHECK(answers[4].execution.rows == 1);
}

TEST_CASE("outputs that are no rows of samples are not cut") {
  const detail::RequestRows two{{{"x", Tensor::zeros(DType::float32, {2, 1})}}, 2};
  const ValueMap sum = {{"sum", Tensor::scalar(1.0f)}};
  const auto summed = [&](const ValueMap&) -> const ValueMap& { return sum; };
  const auto ask = [&](std::vector<detail::RowRange> ranges) {
    return detail::answer_rows(ranges, summed).answers.at(0);
  };
  CHECK(ask({{&two, 0, 2}}).outputs.at("sum").tensor().shape() == Shape{});
  CHECK_THAT(words_of(ask({{&two, 0, 1}}).fault), Contains("no samples"));
}

}  // namespace
}  // namespace d5
