// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/execution_event.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "tests/level1_network/toy_framework.hpp"

namespace {

using d5::DType;
using d5::Tensor;

d5::ExecutorOptions mixed_sizes() { return {.frameworks = {toy::name(), "reference"}}; }

std::vector<float> sized_floats(const Tensor& tensor) {
  const auto span = tensor.span<float>();
  return {span.begin(), span.end()};
}

/// loss = total(w * positive(x))
d5::Network filter() {
  d5::Network network("filter");
  network.add_input("x", DType::float32, {"N"});
  network.add_parameter("w", Tensor::of<float>({1}, {3}));
  network.add_node("Positive", {"x"}, {"kept"});
  network.add_node("Mul", {"kept", "w"}, {"scaled"});
  network.add_node("Total", {"scaled"}, {"loss"});
  network.add_output("scaled");
  network.add_output("loss");
  return network;
}

/// y = relu(x) + b, for any number of rows.
d5::Network rows() {
  d5::Network network("rows");
  network.add_input("x", DType::float32, {"N", 2});
  network.add_input("b", DType::float32, {"N", 1});
  network.add_node("Relu", {"x"}, {"r"});
  network.add_node("Add", {"r", "b"}, {"y"});
  network.add_output("y");
  return network;
}

d5::ValueMap rows_of(std::int64_t x, std::int64_t b) {
  return {{"x", Tensor::zeros(DType::float32, {x, 2})},
          {"b", Tensor::zeros(DType::float32, {b, 1})}};
}

/// Steps are made while compiling, and live as long as their plan.
class PlansThatRan final : public d5::ExecutionEvent {
 public:
  void before_node(const d5::StepInfo& step) override {
    if (step.step == 0) plans.push_back(&step);
  }
  std::vector<const d5::StepInfo*> plans;
};

}  // namespace

TEST_CASE("shapes that were fed before find their plan again") {
  auto executor = d5::make_executor(rows());
  const auto ran = std::make_shared<PlansThatRan>();
  executor->events().add(ran);
  for (const std::int64_t n : {1, 2, 3, 2, 1, 3, 3}) {
    CHECK(executor->inference(rows_of(n, n)).at("y").tensor().shape() == d5::Shape{n, 2});
  }
  const auto& plans = ran->plans;
  REQUIRE(plans.size() == 7);
  CHECK(plans[3] == plans[1]);
  CHECK(plans[4] == plans[0]);
  CHECK((plans[5] == plans[2] && plans[6] == plans[2]));
  CHECK((plans[0] != plans[1] && plans[1] != plans[2] && plans[0] != plans[2]));
}

TEST_CASE("shapes that are computed from shapes are known when the plan is made") {
  d5::Network network("flatten");
  network.add_input("x", DType::float32, {"N", 2, 3});
  network.add_parameter("w", Tensor::of<float>({1}, {2}));
  network.add_constant("minus", Tensor::vector<std::int64_t>({-1}));
  network.add_node("Shape", {"x"}, {"n"}, {{"end", std::int64_t{1}}});
  network.add_node("Concat", {"n", "minus"}, {"shape"}, {{"axis", std::int64_t{0}}});
  network.add_node("Mul", {"x", "w"}, {"scaled"});
  network.add_node("Reshape", {"scaled", "shape"}, {"y"});
  network.add_node("ReduceSum", {"y"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
  network.add_output("y");
  network.add_output("loss");
  network.add_output("n");
  auto executor = d5::make_executor(network);
  const auto ran = std::make_shared<PlansThatRan>();
  executor->events().add(ran);
  for (const std::int64_t n : {2, 5, 2}) {
    Tensor x = Tensor::zeros(DType::float32, {n, 2, 3});
    for (float& value : x.span<float>()) value = 1;
    const auto& outputs = executor->inference_and_backprop({{"x", x}}, "loss");
    CHECK(outputs.at("y").tensor().shape() == d5::Shape{n, 6});
    CHECK(outputs.at("n").tensor().data<std::int64_t>()[0] == n);
    CHECK(sized_floats(executor->network().parameter("w").gradient)[0] == float(n * 6));
  }
  REQUIRE(ran->plans.size() == 3);
  CHECK(ran->plans.front()->node.op_type == "Mul");  // nothing is left to do for the shape
}

TEST_CASE("more shapes than plans are kept for are all computed") {
  auto executor = d5::make_executor(rows());
  for (int round = 0; round < 2; ++round) {
    for (std::int64_t n = 1; n <= 20; ++n) {
      CHECK(executor->inference(rows_of(n, n)).at("y").tensor().shape() == d5::Shape{n, 2});
    }
  }
}

TEST_CASE("sizes of one name must agree in all that is fed") {
  using Catch::Contains;
  auto executor = d5::make_executor(rows());
  CHECK_THROWS_WITH(executor->inference(rows_of(2, 4)),
                    Contains("input 'b' is float32 Nx1, but float32 4x1 was fed") &&
                        Contains("N is 2 in input 'x'"));
  CHECK_THROWS_AS(executor->inference(rows_of(2, 4)), d5::ShapeError);
  CHECK_THROWS_WITH(executor->inference({{"x", Tensor::zeros(DType::float32, {2, 3})},
                                         {"b", Tensor::zeros(DType::float32, {2, 1})}}),
                    Contains("input 'x' is float32 Nx2, but float32 2x3 was fed"));
  CHECK_THROWS_WITH(executor->inference({{"x", Tensor::zeros(DType::float32, {2})},
                                         {"b", Tensor::zeros(DType::float32, {2, 1})}}),
                    Contains("float32 2 was fed"));
  CHECK_NOTHROW(executor->inference(rows_of(5, 5)));
}

TEST_CASE("what is no name, as exporters write for any size, stands for another size each time") {
  d5::Network network("open");
  const std::string any = GENERATE("?", "-1");
  network.add_input("x", DType::float32, {any, any});
  network.add_node("Relu", {"x"}, {"y"});
  network.add_output("y");
  auto executor = d5::make_executor(network);
  const auto& y = executor->inference({{"x", Tensor::zeros(DType::float32, {2, 3})}}).at("y");
  CHECK(y.tensor().shape() == d5::Shape{2, 3});
}

TEST_CASE("sizes that only the data knows change from run to run under one plan") {
  auto executor = d5::make_executor(filter(), mixed_sizes());
  const auto run = [&](std::initializer_list<float> x) {
    const d5::ValueMap inputs = {{"x", Tensor::of<float>({3}, x)}};
    return sized_floats(executor->inference(inputs).at("scaled").tensor());
  };
  CHECK(run({1, -2, 3}) == std::vector<float>{3, 9});
  CHECK(run({-1, -2, -3}).empty());
  CHECK(run({1, 2, 3}) == std::vector<float>{3, 6, 9});
}

TEST_CASE("gradients flow through sizes that only the data knows") {
  auto options = mixed_sizes();
  options.gradients = {"x"};
  auto executor = d5::make_executor(filter(), options);
  for (int run = 0; run < 2; ++run) {
    (void)executor->inference_and_backprop({{"x", Tensor::of<float>({3}, {1, -2, 4})}}, "loss");
    CHECK(sized_floats(executor->network().parameter("w").gradient) == std::vector<float>{5});
    CHECK(sized_floats(executor->gradient("x")) == std::vector<float>{3, 0, 3});
  }
}

TEST_CASE("a list that is fed decides the shape of each run, a scalar's too") {
  d5::Network network("lists");
  network.add_input("x", DType::float32, {2, 3});
  network.add_input("axes", DType::int64, {2});
  network.add_node("ReduceSum", {"x", "axes"}, {"sum"}, {{"keepdims", std::int64_t{0}}});
  network.add_node("Relu", {"sum"}, {"y"});
  network.add_output("y");
  auto executor = d5::make_executor(network);
  const Tensor x = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto run = [&](std::int64_t first, std::int64_t second) {
    return executor->inference({{"x", x}, {"axes", Tensor::vector<std::int64_t>({first, second})}})
        .at("y")
        .tensor();
  };
  for (int i = 0; i < 2; ++i) {
    CHECK(run(0, -1).item<float>() == 21);
    CHECK_THROWS_AS(run(0, 0), d5::ValueError);  // read as all axes, it would be a scalar
    CHECK_THROWS_AS(run(0, 2), d5::ValueError);
  }
}

TEST_CASE("a step that is planned in each run promises its readers no shape") {
  d5::Network network("top");
  network.add_input("x", DType::float32, {4});
  network.add_input("k", DType::int64, {1});
  network.add_node("TopK", {"x", "k"}, {"values", "indices"});
  network.add_node("Relu", {"values"}, {"y"});
  network.add_output("y");
  auto executor = d5::make_executor(network);
  for (const std::int64_t k : {1, 4, 2}) {
    const auto& outputs = executor->inference(
        {{"x", Tensor::of<float>({4}, {1, 4, 3, 2})}, {"k", Tensor::vector<std::int64_t>({k})}});
    CHECK(outputs.at("y").tensor().elements() == k);
  }
}

TEST_CASE("memory that a run allocates counts against the budget") {
  auto executor = d5::make_executor(filter(), mixed_sizes());
  const d5::ValueMap inputs = {{"x", Tensor::of<float>({3}, {1, 2, 3})}};
  (void)executor->inference(inputs);
  const std::size_t budget = d5::memory_budget();
  d5::set_memory_budget(16);
  CHECK_THROWS_AS(executor->inference(inputs), d5::MemoryError);
  d5::set_memory_budget(budget);
  CHECK_NOTHROW(executor->inference(inputs));
}

TEST_CASE("a shape that compiling knows is no step, nor is what follows from it") {
  // PyTorch's export of a reshape with an open batch.
  d5::Network network("reshaped");
  network.add_input("x", DType::float32, {"N", 3});
  network.add_parameter("w", Tensor::of<float>({1}, {2}));
  network.add_constant("first", Tensor::scalar<std::int64_t>(0));
  network.add_constant("axis", Tensor::vector<std::int64_t>({0}));
  network.add_constant("rest", Tensor::vector<std::int64_t>({3, 1}));
  network.add_node("Mul", {"x", "w"}, {"scaled"});
  network.add_node("Shape", {"scaled"}, {"shape"});
  network.add_node("Gather", {"shape", "first"}, {"n"});
  network.add_node("Unsqueeze", {"n", "axis"}, {"n_list"});
  network.add_node("Concat", {"n_list", "rest"}, {"wanted"}, {{"axis", std::int64_t{0}}});
  network.add_node("Reshape", {"scaled", "wanted"}, {"y"});
  network.add_node("Size", {"y"}, {"size"});
  network.add_output("y");
  network.add_output("size");
  struct Seen final : d5::ExecutionEvent {
    std::vector<std::string> ops;
    void before_node(const d5::StepInfo& step) override { ops.push_back(step.node.op_type); }
  };
  const auto seen = std::make_shared<Seen>();
  auto executor = d5::make_executor(network);
  executor->events().add(seen);
  for (const std::int64_t n : {2, 5, 2}) {
    seen->ops.clear();
    const auto& outputs =
        executor->inference({{"x", Tensor::zeros(DType::float32, {n, std::int64_t{3}})}});
    CHECK(outputs.at("y").tensor().shape() == d5::Shape{n, 3, 1});
    CHECK(outputs.at("size").tensor().item<std::int64_t>() == 3 * n);
    CHECK(seen->ops == std::vector<std::string>{"Mul", "Reshape"});
  }
}

TEST_CASE("a shape carries no gradient, be it of data's own size") {
  // loss = total(w * positive(x)) * how many there are
  d5::Network network = filter();
  network.add_node("Size", {"scaled"}, {"count"});
  network.add_node("Cast", {"count"}, {"real_count"}, {{"to", std::int64_t{1}}});
  network.add_node("Mul", {"loss", "real_count"}, {"weighed"});
  network.add_output("weighed");
  auto executor = d5::make_executor(network, mixed_sizes());
  (void)executor->inference_and_backprop({{"x", Tensor::of<float>({3}, {1, -2, 4})}}, "weighed");
  CHECK(sized_floats(executor->network().parameter("w").gradient) == std::vector<float>{2 * 5});
}
