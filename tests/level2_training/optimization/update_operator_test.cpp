// SPDX-License-Identifier: Apache-2.0
// The node d5.Update by itself; that it has each optimizer's bits is step_graph_test's.
#include <catch2/catch.hpp>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"
#include "d5/level2_training/optimization/step_graph.hpp"
#include "d5/level2_training/optimization/update_rule.hpp"

using namespace d5;

namespace {

using Attributes = std::map<std::string, onnx::Attribute, std::less<>>;

/// A node on what is fed.
ValueMap update(const Attributes& attributes, const std::vector<std::string>& inputs,
                const std::vector<std::string>& outputs, const ValueMap& fed) {
  add_update_operator();
  Network network("update");
  for (const auto& [name, value] : fed) {
    const TensorDesc desc = value.tensor().desc();
    network.add_input(name, desc.dtype, {desc.shape.begin(), desc.shape.end()});
  }
  onnx::Node node;
  node.op_type = "Update";
  node.domain = "d5";
  node.inputs = inputs;
  node.outputs = outputs;
  node.attributes = attributes;
  network.splice({.nodes = {node}});
  for (const auto& output : outputs) {
    if (!output.empty()) network.add_output(output);
  }
  return make_executor(network)->inference(fed);
}

/// Inputs of momentum, in float32; each may be replaced.
ValueMap momentum(const ValueMap& other = {}, Attributes attributes = {}) {
  ValueMap fed{{"step", Tensor::scalar(std::int64_t{2})},
               {"w", Tensor::of<float>({2}, {1, -2})},
               {"g", Tensor::of<float>({2}, {0.5f, 4})},
               {"v", Tensor::of<float>({2}, {2, -1})}};
  for (const auto& [name, value] : other) fed[name] = value;
  attributes.emplace("optimizer", "momentum");
  attributes.emplace("learning_rate", 0.5f);
  attributes.emplace("momentum", "0.25");
  return update(attributes, {"step", "w", "g", "v"}, {"w_new", "v_new"}, fed);
}

std::vector<float> floats(const Value& value) {
  const auto span = value.tensor().span<float>();
  return {span.begin(), span.end()};
}

}  // namespace

TEST_CASE("an update gives a parameter and what its rule remembers after the step") {
  const ValueMap result = momentum();
  CHECK(floats(result.at("v_new")) == std::vector<float>{1, 3.75f});       // v / 4 + g
  CHECK(floats(result.at("w_new")) == std::vector<float>{0.5f, -3.875f});  // w - v_new / 2
}

TEST_CASE("options are attributes of any type, and hyper-parameters may be inputs") {
  const auto nesterov = momentum({}, {{"nesterov", std::int64_t{1}}});
  // slope + v_new / 4 in place of v_new
  CHECK(floats(nesterov.at("w_new")) == std::vector<float>{0.625f, -4.46875f});
  const ValueMap fed{{"step", Tensor::scalar(std::int64_t{1})},
                     {"rate", Tensor::scalar(0.125)},
                     {"w", Tensor::of<double>({1}, {1})},
                     {"g", Tensor::of<double>({1}, {2})}};
  const auto by_input = update(
      {{"optimizer", "sgd"}, {"hyper_parameters", std::vector<std::string>{"learning_rate"}}},
      {"step", "rate", "w", "g"}, {"w_new"}, fed);
  CHECK(by_input.at("w_new").tensor().item<double>() == 0.75);
}

TEST_CASE("inputs and attributes that do not fit an update are refused by their kind of error") {
  CHECK_THROWS_AS(momentum({{"g", Tensor::of<float>({1}, {1})}}), ShapeError);
  CHECK_THROWS_AS(momentum({{"v", Tensor::of<float>({1, 2}, {1, 1})}}), ShapeError);
  CHECK_THROWS_AS(momentum({{"step", Tensor::of<std::int64_t>({2}, {1, 2})}}), ShapeError);
  CHECK_THROWS_AS(momentum({{"v", Tensor::of<double>({2}, {1, 1})}}), TypeError);
  CHECK_THROWS_AS(momentum({{"step", Tensor::scalar(2.0)}}), TypeError);
  CHECK_THROWS_AS(momentum({{"w", Tensor::of<std::int64_t>({2}, {1, 1})}}), TypeError);
  CHECK_THROWS_AS(momentum({{"step", Tensor::scalar(std::int64_t{0})}}), ValueError);
  CHECK_THROWS_AS(momentum({}, {{"learning_rate", -1.0f}}), ValueError);
  CHECK_THROWS_AS(momentum({}, {{"learning_rat", 1.0f}}), NotFound);
  CHECK_THROWS_AS(momentum({}, {{"optimizer", "momentun"}}), NotFound);
  CHECK_THROWS_AS(momentum({}, {{"optimizer", "adam"}, {"momentum", "0"}}), NotFound);
  CHECK_THROWS_AS(momentum({}, {{"hyper_parameters", std::vector<std::string>{"learning_rate"}}}),
                  ShapeError);
  CHECK_THROWS_AS(momentum({{"w", Tensor::zeros(DType::float16, {2})},
                            {"g", Tensor::zeros(DType::float16, {2})}}),
                  TypeError);  // it has no master
  const ValueMap fed{{"step", Tensor::scalar(std::int64_t{1})},
                     {"w", Tensor::of<float>({1}, {1})},
                     {"g", Tensor::of<float>({1}, {2})},
                     {"v", Tensor::of<float>({1}, {0})}};
  CHECK_THROWS_AS(update({{"optimizer", "momentum"}}, {"step", "w", "g", "v"}, {"", "v_new"}, fed),
                  ShapeError);
  CHECK_THROWS_AS(update({{"optimizer", "lbfgs"}}, {"step", "w", "g"}, {"w_new"}, fed),
                  Unsupported);
}

namespace {

struct Compared {
  int same = 0, elements = 0;
};

/// Steps of one of ONNX's own operators against those of d5's rule, each from d5's values.
template <class T>
Compared compared(const std::string& op_type, const Attributes& attributes,
                  const std::string& optimizer, const Settings& settings) {
  constexpr int kElements = 101;
  const auto rule = make_update_rule(optimizer, settings);
  Tensor w = Tensor::empty(dtype_of<T>, {kElements}), g = w.copy();
  std::vector<Tensor> slots(rule->slots().size(), Tensor());
  std::vector<Tensor*> places;
  for (Tensor& slot : slots) places.push_back(&(slot = Tensor::zeros(dtype_of<T>, {kElements})));
  for (int i = 0; i < kElements; ++i) w.data<T>()[i] = T(std::sin(1.0 + i));
  Network network("onnx");
  std::vector<std::string> inputs{"rate", "count", "w", "g"}, outputs{"w_new"};
  network.add_input("rate", dtype_of<T>, {});
  network.add_input("count", DType::int64, {});
  for (const char* name : {"w", "g"}) network.add_input(name, dtype_of<T>, {kElements});
  for (const std::string& slot : rule->slots()) {
    network.add_input(slot, dtype_of<T>, {kElements});
    inputs.push_back(slot), outputs.push_back(slot + "_new");
  }
  onnx::Node node;
  node.op_type = op_type;
  node.domain = "ai.onnx.preview.training";
  node.inputs = inputs;
  node.outputs = outputs;
  node.attributes = attributes;
  network.splice({.nodes = {node}});
  network.add_output("w_new");
  const auto executor = make_executor(network);
  Compared result;
  for (std::int64_t step = 1; step <= 20; ++step) {
    for (int i = 0; i < kElements; ++i) g.data<T>()[i] = T(std::cos(double(step) * (i + 1)));
    ValueMap fed{
        {"rate", Tensor::scalar(T(0.1))}, {"count", Tensor::scalar(step - 1)}, {"w", w}, {"g", g}};
    for (std::size_t s = 0; s < slots.size(); ++s) fed[rule->slots()[s]] = slots[s];
    const Tensor theirs = executor->inference(fed).at("w_new").tensor().copy();
    rule->begin_step(step, {});
    rule->update(std::vector<RuleParameter>{{.gradient = g, .value = w, .slots = places}});
    for (int i = 0; i < kElements; ++i) {
      ++result.elements;
      result.same += w.data<T>()[i] == theirs.data<T>()[i];
    }
  }
  return result;
}

}  // namespace

TEST_CASE("ONNX's Momentum and Adagrad have d5's bits in float64 alone, and Adam nowhere") {
  const Attributes momentum{
      {"alpha", 0.75f}, {"beta", 1.0f}, {"norm_coefficient", 0.0f}, {"mode", "standard"}};
  const Settings settings{{"learning_rate", 0.1}, {"momentum", 0.75}};
  const auto wide = compared<double>("Momentum", momentum, "momentum", settings);
  CHECK(wide.same == wide.elements);
  const auto narrow = compared<float>("Momentum", momentum, "momentum", settings);
  CHECK(narrow.same < narrow.elements);  // it computes float32 in float64, and rounds once
  const auto adagrad = compared<double>(
      "Adagrad", {{"decay_factor", 0.0f}, {"epsilon", 0.0f}, {"norm_coefficient", 0.0f}}, "adagrad",
      {{"learning_rate", 0.1}, {"epsilon", 0}});
  CHECK(adagrad.same == adagrad.elements);
  const auto adam = compared<double>(
      "Adam", {{"alpha", 0.5f}, {"beta", 0.75f}, {"epsilon", 0.0009765625f}}, "adam",
      {{"learning_rate", 0.1}, {"beta1", 0.5}, {"beta2", 0.75}, {"epsilon", 0.0009765625}});
  CHECK(adam.same < adam.elements / 2);  // epsilon stands elsewhere
}
