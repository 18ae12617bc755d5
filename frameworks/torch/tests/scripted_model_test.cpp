// SPDX-License-Identifier: Apache-2.0
// Features of torch:script; common properties of executors for whole networks are tested for all.
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/core/trace/trace.hpp"
#include "d5/level1_network/level1_network.hpp"

using namespace d5;
using Catch::Contains;

namespace {

std::shared_ptr<GraphExecutor> scripted(Network network) {
  return open_executor("torch:script", std::move(network));
}

Network model(const std::string& name, bool with_loss) {
  return models().at(name).make({{"seed", 3}, {"with_loss", with_loss}});
}

}  // namespace

TEST_CASE("a graph with normalizations folded into convolutions gives the reference's outputs") {
  const auto subject = scripted(model("resnet-20", false));
  const auto reference = make_executor(model("resnet-20", false));
  for (const auto& record :
       test_executor(*subject, *reference, random_inputs(reference->network(), {.batch = 2}))) {
    INFO(record.reason);
    CHECK(record.status == Status::passed);
  }
  const ValueMap inputs = random_inputs(reference->network(), {.batch = 2});
  Trace::start();
  (void)subject->inference(inputs);
  Trace::stop();
  for (const TraceRecord& record : Trace::timeline().records) {
    CHECK_THAT(record.name, !Contains("batch_norm"));
  }
}

TEST_CASE("what a recorded run cannot hold is refused") {
  Network places("places");
  places.add_input("x", DType::float32, {2, 3});
  places.add_node("NonZero", {"x"}, {"y"});
  places.add_output("y");
  CHECK_THROWS_WITH(scripted(places)->inference({{"x", Tensor::zeros(DType::float32, {2, 3})}}),
                    Contains("data-dependent shapes"));
  Network clip("clip");  // torch's limits are numbers
  clip.add_input("x", DType::float32, {4});
  clip.add_input("low", DType::float32, {});
  clip.add_node("Clip", {"x", "low"}, {"y"});
  clip.add_output("y");
  CHECK_THROWS_WITH(scripted(clip)->inference({{"x", Tensor::zeros(DType::float32, {4})},
                                               {"low", Tensor::zeros(DType::float32, {})}}),
                    Contains("reads numbers"));
}

TEST_CASE("numbers of attributes are constants of a recorded run") {
  Network scaler("scaler");
  scaler.add_input("x", DType::float32, {2, 3});
  onnx::Node& node = scaler.add_node(
      "Scaler", {"x"}, {"y"},
      {{"offset", std::vector<float>{1, 2, 3}}, {"scale", std::vector<float>{0.5F, 2, 4}}});
  node.domain = "ai.onnx.ml";
  node.opset = 3;
  scaler.add_output("y");
  const auto subject = scripted(scaler);
  const auto reference = make_executor(scaler);
  for (const auto& record :
       test_executor(*subject, *reference, random_inputs(reference->network()))) {
    INFO(record.reason);
    CHECK(record.status == Status::passed);
  }
}

TEST_CASE("a frozen graph has no gradients, and says which executors have") {
  const auto executor = scripted(model("lenet", true));
  const ValueMap inputs = random_inputs(executor->network(), {.batch = 2});
  CHECK_THROWS_AS(executor->inference_and_backprop(inputs, "loss"), Unsupported);
  CHECK_THROWS_WITH(executor->inference_and_backprop(inputs, "loss"), Contains("torch:torch"));
  CHECK(executor->inference(inputs).contains("loss"));
}
