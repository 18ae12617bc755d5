// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/pipeline/model_call.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/pipeline/model_pipeline.hpp"

namespace d5 {
namespace {

constexpr std::int64_t kNone = ModelCall::kNoBatch;

/// A network that a function computes; it keeps what it was fed.
class Computed final : public Predictor {
 public:
  explicit Computed(std::function<ValueMap(const ValueMap&)> function)
      : function_(std::move(function)) {}
  [[nodiscard]] std::string name() const override { return "computed"; }
  const ValueMap& predict(const ValueMap& inputs) override {
    fed.push_back(inputs);
    outputs_ = function_(inputs);
    return outputs_;
  }
  std::vector<ValueMap> fed;

 private:
  std::function<ValueMap(const ValueMap&)> function_;
  ValueMap outputs_;
};

/// Sums of frames {N}, kept in a state {2, N} whose rows are the sum and its negative; its scalar
/// `rate` scales the frames.
ValueMap summed(const ValueMap& in) {
  const Tensor &x = in.at("x").tensor(), &state = in.at("state").tensor();
  const float rate = in.at("rate").tensor().item<float>();
  const std::int64_t batch = x.shape()[0];
  REQUIRE(state.shape() == Shape{2, batch});
  Tensor sums = Tensor::empty(DType::float32, {batch, 1});
  Tensor next = Tensor::empty(DType::float32, {2, batch});
  for (std::int64_t i = 0; i < batch; ++i) {
    const float sum = state.data<float>()[i] + rate * x.data<float>()[i];
    CHECK(state.data<float>()[batch + i] == -state.data<float>()[i]);
    sums.data<float>()[i] = next.data<float>()[i] = sum;
    next.data<float>()[batch + i] = -sum;
  }
  return {{"sum", sums}, {"next", next}};
}

ModelCall streaming() {
  return {.batch_axes = {{"state", 1}, {"next", 1}, {"rate", kNone}},
          .fixed = {{"rate", {.desc = {DType::float32, {}}, .value = 2}},
                    {"state", {.desc = {DType::float32, {2}}}}},
          .state = {{"next", "state"}},
          .frames = {"x"}};
}

PipelineItem item_of(const std::string& input, const Tensor& tensor) {
  PipelineItem item;
  item.inputs[input] = tensor;
  return item;
}

std::vector<float> numbers_of(const Tensor& tensor) {
  const auto values = tensor.span<float>();
  return {values.begin(), values.end()};
}

TEST_CASE("a state returns frame by frame, is each sample's own, and starts again") {
  PipelineItem three = item_of("x", Tensor::vector(std::vector<float>{1, 2, 3}));
  PipelineItem one = item_of("x", Tensor::vector(std::vector<float>{5}));
  PipelineItem two = item_of("x", Tensor::vector(std::vector<float>{-1, 10}));
  Computed network(summed);
  std::vector<PipelineItem*> items{&three, &one, &two};
  for (int again = 0; again < 2; ++again) {
    streaming().predict(network, items);
    CHECK(three.answer.at("sum").tensor().shape() == Shape{3, 1});
    CHECK(numbers_of(three.answer.at("sum").tensor()) == std::vector<float>{2, 6, 12});
    CHECK(numbers_of(one.answer.at("sum").tensor()) == std::vector<float>{10});
    CHECK(numbers_of(two.answer.at("sum").tensor()) == std::vector<float>{-2, 18});
    CHECK(!one.answer.contains("next"));
  }
  REQUIRE(network.fed.size() == 6);  // as many calls as the longest has frames, each time
  CHECK(network.fed[1].at("x").tensor().shape() == Shape{2});
  CHECK(network.fed[2].at("x").tensor().shape() == Shape{1});
}

TEST_CASE("a first state is a constant, and one of an open size is empty") {
  ModelCall call = streaming();
  call.fixed["state"].value = 3;
  PipelineItem item = item_of("x", Tensor::vector(std::vector<float>{1}));
  CHECK(numbers_of(call.first_inputs(std::vector{&item}).at("state").tensor()) ==
        std::vector<float>{3, 3});
  call.fixed["state"].desc.shape = Shape{kUnknownDim, 4};
  CHECK(call.first_inputs(std::vector{&item}).at("state").tensor().shape() == Shape{0, 1, 4});
}

TEST_CASE("a batch may be another dimension of inputs and outputs") {
  const ModelCall call{.batch_axes = {{"x", 1}, {"y", 2}}};
  // Steps before the batch: x is 2 x N, y is 1 x 2 x N.
  const auto way = [](const ValueMap& in) -> ValueMap {
    const Tensor& x = in.at("x").tensor();
    return {{"y", x.reshaped(Shape{1, 2, x.shape()[1]})}};
  };
  Computed network(way);
  PipelineItem a = item_of("x", call.single("x", Tensor::vector(std::vector<float>{1, 2})));
  PipelineItem b = item_of("x", call.single("x", Tensor::vector(std::vector<float>{3, 4})));
  call.predict(network, std::vector{&a, &b});
  CHECK(network.fed[0].at("x").tensor().shape() == Shape{2, 2});
  CHECK(numbers_of(network.fed[0].at("x").tensor()) == std::vector<float>{1, 3, 2, 4});
  CHECK(a.answer.at("y").tensor().shape() == Shape{1, 2});
  CHECK(numbers_of(a.answer.at("y").tensor()) == std::vector<float>{1, 2});
  CHECK(numbers_of(b.answer.at("y").tensor()) == std::vector<float>{3, 4});
}

TEST_CASE("samples of a network without a batch are called one by one") {
  const ModelCall call{.batch_axes = {{"x", kNone}, {"y", kNone}}};
  Computed network([](const ValueMap& in) -> ValueMap {
    return {{"y", Tensor::scalar(in.at("x").tensor().data<float>()[1])}};
  });
  PipelineItem a = item_of("x", call.single("x", Tensor::vector(std::vector<float>{1, 2})));
  PipelineItem b = item_of("x", call.single("x", Tensor::vector(std::vector<float>{3, 4, 5})));
  call.predict(network, std::vector{&a, &b});
  REQUIRE(network.fed.size() == 2);
  CHECK(network.fed[1].at("x").tensor().shape() == Shape{3});
  CHECK(a.answer.at("y").tensor().item<float>() == 2);
  CHECK(b.answer.at("y").tensor().item<float>() == 4);
}

TEST_CASE("an output without a row for each sample is refused with a way out") {
  const ModelCall call;
  Computed network([](const ValueMap&) -> ValueMap {
    return {{"y", Tensor::zeros(DType::float32, {20, 1, 37})}};
  });
  PipelineItem item = item_of("x", Tensor::zeros(DType::float32, {1, 2}));
  CHECK_THROWS_WITH(call.predict(network, std::vector{&item}),
                    Catch::Contains("20x1x37") && Catch::Contains("batch_axis"));
}

TEST_CASE("frames that are missing, or not as many in all inputs, are refused") {
  ModelCall call = streaming();
  Computed network(summed);
  PipelineItem empty = item_of("x", Tensor::zeros(DType::float32, {0}));
  CHECK_THROWS_WITH(call.predict(network, std::vector{&empty}), Catch::Contains("0 frames"));
  PipelineItem uneven = item_of("x", Tensor::zeros(DType::float32, {2}));
  uneven.inputs["z"] = Tensor::zeros(DType::float32, {3});
  call.frames.insert("z");
  CHECK_THROWS_WITH(call.predict(network, std::vector{&uneven}),
                    Catch::Contains("3 frames, expected 2"));
  call.frames.clear();
  CHECK_THROWS_WITH(call.predict(network, std::vector{&uneven}), Catch::Contains("'frames'"));
}

TEST_CASE("a constant that its type does not hold is refused") {
  PipelineItem item = item_of("x", Tensor::zeros(DType::float32, {1}));
  ModelCall call{.fixed = {{"rate", {.desc = {DType::int64, {2}}, .value = 8000}}}};
  const ValueMap inputs = call.first_inputs(std::vector{&item, &item});
  CHECK(inputs.at("rate").tensor().shape() == Shape{2, 2});
  CHECK(inputs.at("rate").tensor().data<std::int64_t>()[3] == 8000);
  call.fixed["rate"].value = 0.5;
  CHECK_THROWS_WITH(call.first_inputs(std::vector{&item}), Catch::Contains("0.5 is no int64"));
  call.fixed["rate"].value = 300;
  call.fixed["rate"].desc.dtype = DType::uint8;
  CHECK_THROWS_AS(call.first_inputs(std::vector{&item}), ValueError);
  call.fixed["rate"].desc.dtype = DType::string;
  CHECK_THROWS_AS(call.first_inputs(std::vector{&item}), TypeError);
}

}  // namespace
}  // namespace d5
