// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/validation/network_validation.hpp"

#include <catch2/catch.hpp>

#include "d5/core/entries/framework.hpp"
#include "d5/core/measuring/measure.hpp"
#include "d5/level1_network/execution/framework_overhead.hpp"
#include "tests/interrupted_everywhere.hpp"
#include "tests/level1_network/toy_framework.hpp"

namespace {

using d5::DType;
using d5::Tensor;

/// loss = total(relu(w x)), the total from the toy framework.
d5::Network network(float w) {
  d5::Network network("sum");
  network.add_input("x", DType::float32, {"N"});
  network.add_parameter("w", Tensor::of<float>({1}, {w}));
  network.add_node("Mul", {"x", "w"}, {"scaled"});
  network.add_node("Relu", {"scaled"}, {"y"});
  network.add_node("Total", {"y"}, {"loss"});
  network.add_output("y");
  network.add_output("loss");
  return network;
}

d5::ExecutorOptions mixed() { return {.frameworks = {toy::name(), "reference"}}; }

const d5::ValueMap& inputs() {
  static const d5::ValueMap values = {{"x", Tensor::of<float>({3}, {1, -2, 3})}};
  return values;
}

const d5::Measurement& record(const std::vector<d5::Measurement>& records,
                              const std::string& tensor) {
  for (const auto& one : records) {
    if (one.conditions.at("tensor") == tensor) return one;
  }
  FAIL("there is no record of " << tensor);
  return records.front();
}

}  // namespace

TEST_CASE("executors of the same network pass, output by output and gradient by gradient") {
  auto subject = d5::make_executor(network(2), mixed());
  auto reference = d5::make_executor(network(2), mixed());
  const auto records = d5::test_executor_backprop(*subject, *reference, inputs(), "loss");
  REQUIRE(records.size() == 3);
  for (const auto& one : records) CHECK(one.status == d5::Status::passed);
  CHECK(record(records, "gradient of w").samples == std::vector<double>{0});
  CHECK(records.front().framework == "toy,reference");
}

TEST_CASE("without a loss gradients are held against each other for random ones of the outputs") {
  const auto product = [](float w) {
    d5::Network product("product");
    product.add_input("x", DType::float32, {"N"});
    product.add_parameter("w", Tensor::of<float>({1}, {w}));
    product.add_parameter("v", Tensor::of<float>({1}, {5}));
    product.add_node("Mul", {"x", "w"}, {"a"});
    product.add_node("Mul", {"a", "v"}, {"y"});
    product.add_output("y");
    return product;
  };
  auto reference = d5::make_executor(product(2)), same = d5::make_executor(product(2));
  const auto records = d5::test_executor_backprop(*same, *reference, inputs(), "");
  REQUIRE(records.size() == 3);
  for (const auto& one : records) CHECK(one.status == d5::Status::passed);
  // dv = sum(dy x w) differs with w by half; dw = sum(dy x v) does not.
  auto other = d5::make_executor(product(3));
  const auto wrong = d5::test_executor_backprop(*other, *reference, inputs(), "");
  CHECK(record(wrong, "gradient of v").status == d5::Status::failed);
  CHECK(record(wrong, "gradient of v").samples.at(0) == Approx(0.5));
  CHECK(record(wrong, "gradient of w").status == d5::Status::passed);
}

TEST_CASE("a difference fails with the tensor and its relative size") {
  auto subject = d5::make_executor(network(3), mixed());
  auto reference = d5::make_executor(network(2), mixed());
  const auto records = d5::test_executor(*subject, *reference, inputs());
  CHECK(record(records, "output loss").status == d5::Status::failed);
  CHECK(record(records, "output loss").samples.at(0) == Approx(0.5));  // 12 for 8
  CHECK_THAT(record(records, "output loss").reason, Catch::Contains("loss"));
  const auto gradients = d5::test_executor_backprop(*subject, *reference, inputs(), "loss");
  CHECK(record(gradients, "gradient of w").status == d5::Status::passed);  // 1 + 3 for both
}

TEST_CASE("executors that share a network are compared by the gradients that each computed") {
  const d5::Network shared = network(2);
  auto subject = d5::make_executor(shared, mixed());
  auto reference = d5::make_executor(shared, mixed());
  for (const auto& one : d5::test_executor_backprop(*subject, *reference, inputs(), "loss")) {
    CHECK(one.status == d5::Status::passed);
  }
}

TEST_CASE("a test of executors can be ended between any two nodes, and they are whole again") {
  auto subject = d5::make_executor(network(2), mixed());
  auto reference = d5::make_executor(network(2), mixed());
  const auto test = [&](const d5::Interrupt& interrupt) {
    return d5::test_executor_backprop(*subject, *reference, inputs(), "loss", {}, interrupt);
  };
  const int asked = d5::testing::interrupted_everywhere(test);
  CHECK(asked >= 2 * 6);  // three nodes, forward and backward, of each
  for (const auto& one : test({})) CHECK(one.status == d5::Status::passed);
  CHECK(subject->events().empty());
}

TEST_CASE("an operator that a framework lacks makes the network unsupported, and is named") {
  auto subject = d5::make_executor(network(2));
  auto reference = d5::make_executor(network(2), mixed());
  const auto records = d5::test_executor(*subject, *reference, inputs());
  REQUIRE(records.size() == 1);
  CHECK(records.front().status == d5::Status::unsupported);
  CHECK_THAT(records.front().reason, Catch::Contains("Total"));
}

TEST_CASE("auto takes an operator from whatever framework has it") {
  (void)toy::name();
  auto executor = d5::make_executor(network(2), {.frameworks = {"auto"}});
  CHECK(executor->inference(inputs()).at("loss").tensor().item<float>() == 8);
}

TEST_CASE("framework overhead has as many samples as were asked for, and says what it took off") {
  auto executor = d5::make_executor(network(2), mixed());
  const d5::Subject sum{.run = [&] { (void)executor->inference(inputs()); },
                        .events = {&executor->events()}};
  const auto records = d5::measure({sum}, {"framework_overhead"}, {.samples = 31});
  REQUIRE(records.size() == 1);
  CHECK(executor->events().empty());
  CHECK(records.front().samples.size() == 31);
  CHECK(records.front().conditions.count("clock seconds taken off") == 1);
  // Three steps on three elements: a millisecond would be another unit.
  CHECK(d5::summarise(records.front().samples).median < 1e-3);
}

TEST_CASE("the overhead's share is the part of whole runs that no node takes") {
  auto executor = d5::make_executor(network(2), mixed());
  const d5::Subject sum{.run = [&] { (void)executor->inference(inputs()); },
                        .events = {&executor->events()}};
  const auto records =
      d5::measure({sum}, {"framework_overhead", "overhead_share"}, {.samples = 31});
  REQUIRE(records.size() == 2);
  const auto& share = records.back();
  CHECK(share.metric == "overhead_share");
  CHECK(share.quantity == d5::Quantity::share);
  REQUIRE(share.samples.size() == 31);
  for (const double sample : share.samples) CHECK(sample < 1);
  const auto nothing = d5::measure({{.run = [&] { (void)executor->inference(inputs()); }}},
                                   {"overhead_share"}, {.samples = 31});
  CHECK(nothing.front().status == d5::Status::unsupported);
}

TEST_CASE("framework overhead that observes nothing is unsupported and says why") {
  auto executor = d5::make_executor(network(2), mixed());
  const auto records = d5::measure({{.run = [&] { (void)executor->inference(inputs()); }}},
                                   {"framework_overhead"}, {.samples = 31});
  CHECK(records.front().status == d5::Status::unsupported);
  CHECK_THAT(records.front().reason, Catch::Contains("events"));
}
