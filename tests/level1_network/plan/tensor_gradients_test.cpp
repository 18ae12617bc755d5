// SPDX-License-Identifier: Apache-2.0
// Gradients with respect to any tensor: inputs, constants, values between nodes.
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/execution_event.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "d5/level1_network/source/models.hpp"
#include "tests/level1_network/toy_framework.hpp"

using namespace d5;

namespace {

Tensor numbers(std::initializer_list<float> values) { return Tensor::vector<float>(values); }
std::vector<float> floats(const Tensor& tensor) {
  const auto span = tensor.span<float>();
  return {span.begin(), span.end()};
}

/// u = w x, loss = u^2 + c u; `idle` has no part in it.
Network polynomial() {
  Network network("polynomial");
  network.add_input("x", DType::float32, {1});
  network.add_parameter("w", numbers({3}));
  network.add_constant("c", numbers({5}));
  network.add_constant("half", numbers({0.5f}));
  network.add_node("Mul", {"half", "half"}, {"quarter"});
  network.add_node("Mul", {"w", "x"}, {"u"});
  network.add_node("Mul", {"u", "u"}, {"square"});
  network.add_node("Mul", {"c", "u"}, {"linear"});
  network.add_node("Add", {"square", "linear"}, {"sum"});
  network.add_node("Relu", {"u"}, {"idle"});
  network.add_node("Mul", {"sum", "quarter"}, {"loss"});
  network.add_output("idle");
  network.add_output("loss");
  return network;
}
const ValueMap kTwo{{"x", numbers({2})}};  // u = 6, loss = (36 + 30) / 4

class BackwardSteps final : public ExecutionEvent {
 public:
  std::vector<std::string> seen;
  int ready = 0;
  void before_node(const StepInfo& step) override {
    if (step.pass == Pass::backward) seen.push_back(step.node.outputs.front());
  }
  void gradient_ready(Parameter&, std::size_t, Stream&) override { ++ready; }
};

/// Sums a tensor of N x C x rest over all but C.
std::vector<double> sums_by_channel(const Tensor& tensor) {
  const auto& dims = tensor.shape().dims();
  std::vector<double> sums(static_cast<std::size_t>(dims[1]), 0.0);
  std::int64_t rest = 1;
  for (std::size_t d = 2; d < dims.size(); ++d) rest *= dims[d];
  const auto elements = tensor.span<float>();
  for (std::size_t i = 0; i < elements.size(); ++i) {
    sums[i / std::size_t(rest) % sums.size()] += double(elements[i]);
  }
  return sums;
}

}  // namespace

TEST_CASE("a value between nodes gets the gradients of all its readers, a constant its own") {
  const auto executor = make_executor(
      polynomial(), {.gradients = {"u", "x", "c", "quarter", "sum", "loss", "w", "idle"}});
  for (int run = 0; run < 2; ++run) {
    (void)executor->inference_and_backprop(kTwo, "loss");
    CHECK(floats(executor->gradient("u")) == std::vector<float>{(2 * 6 + 5) / 4.0f});
    CHECK(floats(executor->gradient("x")) == std::vector<float>{3 * 17 / 4.0f});
    CHECK(floats(executor->gradient("w")) == std::vector<float>{2 * 17 / 4.0f});
    CHECK(floats(executor->network().parameter("w").gradient) == std::vector<float>{2 * 17 / 4.0f});
    CHECK(floats(executor->gradient("c")) == std::vector<float>{6 / 4.0f});
    CHECK(floats(executor->gradient("quarter")) == std::vector<float>{66});
    CHECK(floats(executor->gradient("sum")) == std::vector<float>{0.25f});
    CHECK(floats(executor->gradient("loss")) == std::vector<float>{1});
    CHECK(floats(executor->gradient("idle")) == std::vector<float>{0});
  }
}

TEST_CASE("a constant may have a gradient whose network folds it otherwise") {
  const auto executor = make_executor(polynomial(), {.gradients = {"half"}});
  CHECK(executor->inference(kTwo).at("loss").tensor().item<float>() == 16.5f);
  (void)executor->inference_and_backprop(kTwo, "loss");
  CHECK(floats(executor->gradient("half")) == std::vector<float>{66});  // 2 half (36 + 30)
}

TEST_CASE("without those of parameters only what leads to the named tensors runs backward") {
  const auto executor =
      make_executor(polynomial(), {.gradients = {"u"}, .parameter_gradients = false});
  const auto steps = std::make_shared<BackwardSteps>();
  executor->events().add(steps);
  executor->network().parameter("w").gradient.copy_from(numbers({7}));
  (void)executor->inference_and_backprop(kTwo, "loss");
  CHECK(floats(executor->gradient("u")) == std::vector<float>{17 / 4.0f});
  CHECK(steps->seen == std::vector<std::string>{"loss", "sum", "linear", "square"});
  CHECK(steps->ready == 0);
  CHECK(floats(executor->network().parameter("w").gradient) == std::vector<float>{7});
  CHECK_THROWS_AS(executor->gradient("w"), NotFound);
}

TEST_CASE("a parameter may be the only tensor differentiated by") {
  const auto executor =
      make_executor(polynomial(), {.gradients = {"w"}, .parameter_gradients = false});
  (void)executor->inference_and_backprop(kTwo, "loss");
  CHECK(floats(executor->gradient("w")) == std::vector<float>{2 * 17 / 4.0f});
}

TEST_CASE("given gradients of outputs reach values between nodes") {
  const auto executor = make_executor(polynomial(), {.gradients = {"u"}});
  const auto batch = executor->forward(kTwo, {"idle", "loss"});
  batch->backward({{"idle", numbers({100})}, {"loss", numbers({4})}});
  CHECK(floats(batch->gradient("u")) == std::vector<float>{100 + 17});
}

TEST_CASE("the gradient of a convolution's bias is that of its output, summed over its places") {
  Network network = models().at("lenet").make({{"seed", 4}, {"with_loss", true}});
  const std::string after_first = network.node("conv1").outputs.front();
  const std::string after_second = network.node("conv2").outputs.front();
  const ValueMap inputs = random_inputs(network, {.batch = 3});
  const auto executor = make_executor(network, {.gradients = {after_first, after_second}});
  (void)executor->inference_and_backprop(inputs, "loss");
  for (const auto& [output, bias] :
       {std::pair(after_first, "conv1.bias"), std::pair(after_second, "conv2.bias")}) {
    const auto sums = sums_by_channel(executor->gradient(output));
    const auto expected = floats(executor->gradient(bias));
    REQUIRE(sums.size() == expected.size());
    for (std::size_t c = 0; c < sums.size(); ++c) {
      CHECK(sums[c] == Approx(double(expected[c])).margin(1e-6));  // float32 sums of 2,352
    }
  }
}

TEST_CASE("a tensor whose size only the data knows has a gradient of that size") {
  Network network("filter");
  network.add_input("x", DType::float32, {"N"});
  network.add_parameter("w", numbers({3}));
  network.add_node("Positive", {"x"}, {"kept"});
  network.add_node("Positive", {"x"}, {"aside"});
  network.add_node("Mul", {"kept", "w"}, {"scaled"});
  network.add_node("Total", {"scaled"}, {"loss"});
  network.add_output("aside");
  network.add_output("loss");
  const auto executor = make_executor(
      network, {.frameworks = {toy::name(), "reference"}, .gradients = {"kept", "aside"}});
  for (const auto& x : {numbers({1, -2, 3}), numbers({-1, -2, 3}), numbers({4, 2, 3})}) {
    (void)executor->inference_and_backprop({{"x", x}}, "loss");
    std::size_t positive = 0;
    for (const float element : x.span<float>()) positive += element > 0 ? 1 : 0;
    CHECK(floats(executor->gradient("kept")) == std::vector<float>(positive, 3));
    CHECK(floats(executor->gradient("aside")) == std::vector<float>(positive, 0));
  }
}

TEST_CASE("a tensor that has no gradient is refused by name") {
  Network network("opaque");
  network.add_input("x", DType::float32, {2});
  network.add_input("i", DType::int64, {2});
  network.add_node("Relu", {"x"}, {"before"});
  network.add_node("Opaque", {"before"}, {"after"}, {}, "wall");
  network.add_node("Total", {"after"}, {"loss"});
  network.add_output("loss");
  const ValueMap inputs{{"x", numbers({1, 2})}, {"i", Tensor::vector<std::int64_t>({1, 2})}};
  const auto run = [&](const std::string& name) {
    const auto executor =
        make_executor(network, {.frameworks = {toy::name(), "reference"}, .gradients = {name}});
    (void)executor->inference_and_backprop(inputs, "loss");
    return floats(executor->gradient(name));
  };
  CHECK(run("after") == std::vector<float>{1, 1});
  CHECK_THROWS_AS(run("before"), Unsupported);
  CHECK_THROWS_WITH(run("before"), Catch::Contains("Opaque 'wall'"));
  CHECK_THROWS_AS(run("i"), TypeError);
  CHECK_THROWS_AS(run("befor"), NotFound);
  CHECK_THROWS_WITH(run("befor"), Catch::Contains("did you mean before"));
}
