// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/validation/numeric_gradients.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "d5/core/entries/framework.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "d5/level1_network/source/models.hpp"

using namespace d5;

namespace {

/// y = x; its gradient is given as 1 + `error` times the right one.
class LyingKernel final : public Kernel {
 public:
  explicit LyingKernel(double error) : error_(error) {}
  void forward(OpContext& context) override { context.output(0).copy_from(context.input(0)); }
  void backward(GradContext& context) override {
    Tensor& dx = context.grad_input(0);
    const Tensor& dy = context.grad_output(0);
    dispatch(FloatTypes{}, dx.dtype(), "Identity", [&]<class T>() {
      for (std::int64_t i = 0; i < dx.elements(); ++i) {
        dx.data<T>()[i] = T((1 + error_) * double(dy.data<T>()[i]));
      }
    });
  }

 private:
  double error_;
};

/// y = max(x, 0), whose slope is given as `at_kink` at 0 and as `factor` above.
class RectifierKernel final : public Kernel {
 public:
  RectifierKernel(double at_kink, double factor) : at_kink_(at_kink), factor_(factor) {}
  void forward(OpContext& context) override {
    dispatch(FloatTypes{}, context.output(0).dtype(), "Relu", [&]<class T>() {
      T* y = context.output(0).data<T>();
      for (const T& x : context.input(0).span<T>()) *y++ = T(std::fmax(double(x), 0.0));
    });
  }
  void backward(GradContext& context) override {
    dispatch(FloatTypes{}, context.grad_input(0).dtype(), "Relu", [&]<class T>() {
      T* dx = context.grad_input(0).data<T>();
      const T* dy = context.grad_output(0).data<T>();
      for (const T& x : context.input(0).span<T>()) {
        const double slope = double(x) == 0 ? at_kink_ : double(x) > 0 ? factor_ : 0;
        *dx++ = T(slope * double(*dy++));
      }
    });
  }
  KernelTraits traits() const override {
    return {.backward_reads_inputs = {0}, .backward_reads_outputs = {}};
  }

 private:
  double at_kink_, factor_;
};

std::string lying(double error) {
  static int count = 0;
  const std::string name = "lying" + std::to_string(++count);
  add_framework(name, "1", [error](Framework& framework) {
    framework.part<OperatorRegistry>().add_kernel(
        "Identity", {}, [error](PlanContext&) { return std::make_unique<LyingKernel>(error); });
  });
  return name;
}

/// loss = sum of (w Identity(v) x)^2
Network product() {
  Network network("product");
  network.add_input("x", DType::float32, {3});
  network.add_parameter("w", Tensor::vector<float>({1, 2, -3}));
  network.add_parameter("v", Tensor::vector<float>({2, 0.5f, 1}));
  network.add_node("Identity", {"v"}, {"same"});
  network.add_node("Mul", {"w", "same"}, {"p"});
  network.add_node("Mul", {"p", "x"}, {"q"});
  network.add_node("ReduceSumSquare", {"q"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
  network.add_output("loss");
  return network;
}
const ValueMap kInputs{{"x", Tensor::vector<float>({1, -1, 2})}};

}  // namespace

TEST_CASE("gradients that are right pass, a record a parameter") {
  Network network = models().at("lenet").make({{"seed", 5}, {"with_loss", true}});
  const auto executor = make_executor(network);
  const auto records =
      test_numeric_gradients(*executor, random_inputs(network), "loss", {.elements = 4});
  REQUIRE(records.size() == 10);
  CHECK(records.front().conditions.at("tensor") == "gradient of conv1.bias");
  for (const auto& record : records) {
    INFO(record.reason);
    CHECK(record.status == Status::passed);
    CHECK(record.samples.front() < 1e-6);
  }
}

TEST_CASE("a gradient that is wrong by a part in a thousand is found, and named") {
  const auto executor = make_executor(product(), {.frameworks = {lying(1e-3), "reference"}});
  const auto records = test_numeric_gradients(*executor, kInputs, "loss");
  REQUIRE(records.size() == 2);
  for (const auto& record : records) {
    const bool is_v = record.conditions.at("tensor") == "gradient of v";
    CHECK(record.status == (is_v ? Status::failed : Status::passed));
    if (is_v) CHECK_THAT(record.reason, Catch::Contains("gradient of v: element"));
  }
}

TEST_CASE("a kink is no error") {
  Network network("kink");
  network.add_parameter("w", Tensor::vector<float>({0, 1, -1}));
  network.add_node("Relu", {"w"}, {"r"});
  network.add_node("ReduceSum", {"r"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
  network.add_output("loss");
  const auto records = test_numeric_gradients(*make_executor(network), {}, "loss");
  REQUIRE(records.size() == 1);
  CHECK(records.front().status == Status::passed);
  CHECK(records.front().conditions.at("kinks") == "1 of 3");
}

TEST_CASE("at a kink what is not between the slopes to either side is found") {
  const auto status = [](double at_kink, double factor) {
    static int count = 0;
    const std::string name = "rectifier" + std::to_string(++count);
    add_framework(name, "1", [=](Framework& framework) {
      framework.part<OperatorRegistry>().add_kernel("Relu", {}, [=](PlanContext&) {
        return std::make_unique<RectifierKernel>(at_kink, factor);
      });
    });
    Network network("kink");
    network.add_parameter("w", Tensor::vector<float>({0, 1, -1}));
    network.add_node("Relu", {"w"}, {"r"});
    network.add_node("ReduceSum", {"r"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
    network.add_output("loss");
    const auto executor = make_executor(network, {.frameworks = {name, "reference"}});
    return test_numeric_gradients(*executor, {}, "loss").at(0).status;
  };
  for (const double slope : {0.0, 0.5, 1.0}) CHECK(status(slope, 1) == Status::passed);
  for (const double slope : {1.2, -0.2, std::nan("")}) CHECK(status(slope, 1) == Status::failed);
  CHECK(status(0, 1.001) == Status::failed);
}

TEST_CASE("a network that draws random numbers is skipped with the reason") {
  Network network("random");
  network.add_parameter("w", Tensor::vector<float>({1}));
  network.add_node("RandomNormalLike", {"w"}, {"noise"});
  network.add_node("Mul", {"w", "noise"}, {"loss"});
  network.add_output("loss");
  const auto records = test_numeric_gradients(*make_executor(network), {}, "loss");
  REQUIRE(records.size() == 1);
  CHECK(records.front().status == Status::skipped);
  CHECK_THAT(records.front().reason, Catch::Contains("random"));
}
