// SPDX-License-Identifier: Apache-2.0
// Custom operators in torch's graphs, and torch's own functions as operators.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/level0_ops.hpp"
#include "d5/level1_network/level1_network.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

/// example.LogCosh of the examples, loaded once.
void load_log_cosh() {
  static const bool loaded = [] {
    const char* source = std::getenv("D5_SOURCE_DIR");
    if (!source) FAIL("D5_SOURCE_DIR is not set; run this test through ctest");
    const auto file = fs::path(source) / "examples/101_custom_operator/log_cosh.cpp";
    load_custom_operators(build_operators(file.string()));
    return true;
  }();
  CHECK(loaded);
}

/// loss = mean(op(x w)), in float64, w = {0.5, -2}, written to a file and read again.
Network custom_network(const std::string& domain, const std::string& op,
                       std::map<std::string, onnx::Attribute, std::less<>> attributes = {}) {
  Network network("custom");
  network.add_input("x", DType::float64, {3, 2});
  network.add_parameter("w", Tensor::vector(std::vector<double>{0.5, -2}));
  network.add_node("Mul", {"x", "w"}, {"product"});
  onnx::Node& node = network.add_node(op, {"product"}, {"y"}, std::move(attributes));
  node.domain = domain;
  node.opset = 1;
  network.add_node("ReduceMean", {"y"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
  network.add_output("y");
  network.add_output("loss");
  return network;
}

const std::vector<double> kImages = {0.3, -1, 2, 0.7, -0.2, 1.5};

ValueMap fed_to_custom() {
  Tensor x = Tensor::empty(DType::float64, {3, 2});
  std::copy(kImages.begin(), kImages.end(), x.span<double>().begin());
  return {{"x", x}};
}

std::shared_ptr<GraphExecutor> executor_of(const std::string& kind, Network network) {
  if (kind == "reference") return make_executor(std::move(network));
  if (kind == "torch's plan") return make_executor(std::move(network), {.frameworks = {"torch"}});
  return framework("torch").part<ExecutorRegistry>().at("torch").make(std::move(network), {});
}

/// w after two steps of gradient descent on mean(f(x w)), from the formula of f'.
template <class Derivative>
std::vector<double> two_steps(double learning_rate, const Derivative& derivative) {
  std::vector<double> w = {0.5, -2};
  for (int step = 0; step < 2; ++step) {
    std::vector<double> gradient(2);
    for (std::size_t i = 0; i < kImages.size(); ++i) {
      gradient[i % 2] += derivative(kImages[i] * w[i % 2]) * kImages[i] / double(kImages.size());
    }
    for (std::size_t j = 0; j < 2; ++j) w[j] -= learning_rate * gradient[j];
  }
  return w;
}

constexpr double kLearningRate = 0.25;

/// Trains in a framework and compares the parameters with the formula.
template <class Derivative>
void check_training(const std::string& kind, Network network, const Derivative& derivative) {
  INFO(kind);
  const auto optimizer = optimizers().at("sgd").make(executor_of(kind, std::move(network)), "loss",
                                                     {{"learning_rate", kLearningRate}});
  for (int step = 0; step < 2; ++step)
    (void)optimizer->step({.values = fed_to_custom(), .size = 3});
  const auto w = optimizer->executor().network().parameter("w").value.span<double>();
  const auto expected = two_steps(kLearningRate, derivative);
  for (std::size_t j = 0; j < 2; ++j) CHECK(w[j] == Approx(expected[j]).epsilon(1e-12));
}

const auto kKinds = {"reference", "torch's plan", "torch's executor"};

double silu_derivative(double x) {
  const double sigmoid = 1 / (1 + std::exp(-x));
  return sigmoid * (1 + x * (1 - sigmoid));
}

}  // namespace

TEST_CASE("an operator in C++ trains alike in every framework") {
  load_log_cosh();
  for (const std::string kind : kKinds) {
    check_training(kind, custom_network("example", "LogCosh", {{"scale", 2.0F}}),
                   [](double x) { return 2 * std::tanh(x); });
  }
}

TEST_CASE("an operator in C++ stands in ONNX files under its own domain") {
  load_log_cosh();
  const testing::TemporaryFolder folder;
  const std::string file = folder / "log_cosh.onnx";
  custom_network("example", "LogCosh").save(file);
  for (const std::string kind : kKinds) {
    INFO(kind);
    const auto executor = executor_of(kind, Network::load(file));
    const auto y1 = [&] {
      return executor->inference(fed_to_custom()).at("y").tensor().span<double>()[1];
    };
    CHECK(y1() == Approx(std::log(std::cosh(2.0))));
    // Repeats with gradients in between: nothing of the previous run remains.
    (void)executor->inference_and_backprop(fed_to_custom(), "loss");
    CHECK(y1() == Approx(std::log(std::cosh(2.0))));
  }
}

TEST_CASE("torch's executor gives an operator new shapes, and refuses a gradient that it lacks") {
  load_log_cosh();
  add_custom_operator("NoGradient", {.domain = "torch_test"}, [](const onnx::Node&) {
    struct Copy final : MovingOperator {
      struct Run final : Kernel {
        void forward(OpContext& context) override { context.output(0).copy_from(context.input(0)); }
      };
      std::vector<ValueDesc> infer(const InferContext& context) const override {
        return {context.input(0)};
      }
      std::unique_ptr<Kernel> plan(PlanContext&) const override { return std::make_unique<Run>(); }
    };
    return std::make_unique<Copy>();
  });
  for (const std::string kind : kKinds) {
    INFO(kind);
    const auto executor = executor_of(kind, custom_network("torch_test", "NoGradient"));
    CHECK(executor->inference(fed_to_custom()).at("y").tensor().span<double>()[0] == Approx(0.15));
    CHECK_THROWS_AS(executor->inference_and_backprop(fed_to_custom(), "loss"), Unsupported);
  }
  Network open("open");
  open.add_input("x", DType::float32, {"N"});
  open.add_node("LogCosh", {"x"}, {"y"}).domain = "example";
  open.add_output("y");
  const auto executor = executor_of("torch's executor", std::move(open));
  for (const std::int64_t size : {3, 5, 3}) {
    Tensor x = Tensor::zeros(DType::float32, {size});
    CHECK(executor->inference({{"x", x}}).at("y").tensor().elements() == size);
  }
}

TEST_CASE("a function of torch is an operator, in networks of every framework and in tests") {
  CHECK(custom_op_from_native("torch", "aten::silu") == "aten.silu");
  for (const std::string kind : kKinds) {
    check_training(kind, custom_network("aten", "silu"), silu_derivative);
  }
  const auto rows = test_gradient(parse_case("aten.silu 3x4"), "torch");
  REQUIRE(rows.size() == 1);
  INFO(rows[0].reason);
  CHECK(rows[0].status == Status::passed);
}

TEST_CASE("a function's arguments are a node's inputs and attributes") {
  (void)framework("torch");
  const auto passes = [](const std::string& line) {
    for (const auto& row : test_forward(parse_case(line), "torch")) {
      INFO(line << ": " << row.reason);
      CHECK(row.status == Status::passed);
    }
  };
  passes("aten.add {1,2} {10,20} alpha=2 -> {21,42}");                  // a number
  passes("aten.add {1,2} other=3 -> {4,5}");                            // another overload
  passes("aten.sum 2x2{1,2,3,4} dim=1 -> {3,7}");                       // a list of one
  passes("aten.cat {1,2} {3} {4} -> {1,2,3,4}");                        // all tensors
  passes("aten.linear 1x2{1,2} 1x2{3,4} -> 1x1{11}");                   // a tensor left out
  passes("aten.linear 1x2{1,2} 1x2{3,4} {5} -> 1x1{16}");               // the same, there
  passes("aten.transpose 2x2{1,2,3,4} dim0=0 dim1=1 -> 2x2{1,3,2,4}");  // a view
  passes("aten.gelu {0} approximate=tanh -> {0}");                      // a word
  passes("aten.softmax {0,0} dim=0 -> {0.5,0.5}");                      // a type by default
  passes("aten.unbind 2x2{1,2,3,4} -> {1,2} {3,4}");                    // several results
}

TEST_CASE("a function that is not there on the meta device has its shapes tried out") {
  (void)framework("torch");
  for (const std::string line :
       {"aten.layer_norm {1,-1} normalized_shape=2 eps=0 -> {1,-1}",  // the same for all data
        "aten.nonzero {0,5,0,7} -> int64:2x1{1,3}"}) {                // data decide it
    for (const auto& row : test_forward(parse_case(line), "torch")) {
      INFO(line << ": " << row.reason);
      CHECK(row.status == Status::passed);
    }
  }
}

TEST_CASE("what torch does not have, or not so, is refused with what it has") {
  CHECK_THROWS_AS(custom_op_from_native("torch", "aten::no_such_function"), NotFound);
  CHECK_THROWS_AS(custom_op_from_native("torch", "silu"), ValueError);
  (void)framework("torch");
  const auto make = [](const std::string& line) {
    return custom_operators().make(parse_case(line).node);
  };
  CHECK_THROWS_WITH(make("aten.silu 3 3"),
                    Contains("aten::silu(Tensor self)") && Contains("no more than 1 inputs"));
  CHECK_THROWS_WITH(make("aten.softmax 3"), Contains("needs an attribute 'dim'"));
  CHECK_THROWS_WITH(make("aten.softmax 3 dim=word"), Contains("attribute 'dim' must be int"));
  CHECK_THROWS_WITH(make("aten.silu 3 beta=2"), Contains("all the attributes"));
}
