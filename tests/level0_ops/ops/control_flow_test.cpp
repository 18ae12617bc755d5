// SPDX-License-Identifier: Apache-2.0
// If, Loop, Scan and SequenceMap on graphs that are C++ functions; level 1 tests them on real ones.
#include <catch2/catch.hpp>
#include <functional>
#include <map>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/subgraph_runner.hpp"
#include "d5/level0_ops/run/node_run.hpp"

using namespace d5;

namespace {

class FunctionGraph final : public SubgraphRunner {
 public:
  using Function = std::function<std::vector<Value>(std::span<const Value>)>;
  /// Gradients of the inputs, from the inputs and the gradients of the outputs.
  using Backward =
      std::function<std::vector<Tensor>(const std::vector<Value>&, std::span<const Tensor>)>;
  FunctionGraph(std::size_t inputs, std::size_t outputs, Function function, Backward backward = {})
      : inputs_(inputs),
        outputs_(outputs),
        function_(std::move(function)),
        backward_(std::move(backward)) {}
  std::size_t input_count() const override { return inputs_; }
  std::size_t output_count() const override { return outputs_; }
  std::span<Value> run(std::span<const Value> inputs) override {
    if (backward_) kept_.emplace_back(inputs.begin(), inputs.end());
    return results_ = function_(inputs);
  }
  void keep_runs(Places) override { kept_.clear(); }
  std::vector<Tensor> run_backward(std::span<const Tensor> grad_outputs) override {
    const std::vector<Value> inputs = std::move(kept_.back());
    kept_.pop_back();
    return backward_(inputs, grad_outputs);
  }

 private:
  std::size_t inputs_, outputs_;
  std::vector<Value> results_;
  Function function_;
  Backward backward_;
  std::vector<std::vector<Value>> kept_;
};

class Services final : public RunServices {
 public:
  std::map<std::string, FunctionGraph, std::less<>> graphs;
  Tensor allocate(const TensorDesc& desc) override { return Tensor::empty(desc); }
  SubgraphRunner& subgraph(std::string_view attribute) override {
    return graphs.find(attribute)->second;
  }
  RandomStream random() override { return RandomStream(0); }
  std::int64_t iteration_budget() const override { return 100; }
};

std::vector<Value> run(const std::string& op, Services& services, std::vector<Value> inputs,
                       std::size_t outputs, std::map<std::string, std::int64_t> attributes = {},
                       int opset = 21) {
  onnx::Node node;
  node.op_type = op;
  node.opset = opset;
  for (const auto& [name, value] : attributes) node.attributes[name] = value;
  std::vector<const Value*> in;
  for (Value& input : inputs) {
    const bool given = input.kind() != ValueKind::none;
    node.inputs.push_back(given ? "x" : "");
    in.push_back(given ? &input : nullptr);
  }
  std::vector<Value> results(outputs);
  std::vector<Value*> out;
  for (Value& result : results) {
    node.outputs.push_back("y");
    out.push_back(&result);
  }
  const OperatorRegistry& reference = framework("reference").part<OperatorRegistry>();
  const auto meaning = reference.make(node);
  NodeRun one(node, *meaning, {&reference}, {}, services);
  one.plan(in, out);
  one.forward();
  return results;
}

float number(const Value& value) { return value.tensor().item<float>(); }
std::vector<float> numbers(const Value& value) {
  const auto values = value.tensor().span<float>();
  return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("If runs one of its graphs") {
  Services services;
  services.graphs.emplace("then_branch", FunctionGraph(0, 1, [](auto) {
                            return std::vector<Value>{Tensor::scalar(1.0f)};
                          }));
  services.graphs.emplace("else_branch", FunctionGraph(0, 1, [](auto) {
                            return std::vector<Value>{Tensor::scalar(2.0f)};
                          }));
  CHECK(number(run("If", services, {Tensor::scalar(true)}, 1)[0]) == 1);
  CHECK(number(run("If", services, {Tensor::scalar(false)}, 1)[0]) == 2);
}

TEST_CASE("Loop feeds its results back, stacks the rest, and ends") {
  Services services;
  // x doubles while it is below 20; the old x is stacked.
  services.graphs.emplace("body", FunctionGraph(3, 3, [](std::span<const Value> in) {
                            const float x = in[2].tensor().item<float>();
                            return std::vector<Value>{Tensor::scalar(2 * x < 20),
                                                      Tensor::scalar(2 * x), Tensor::scalar(x)};
                          }));
  const Value always = Tensor::scalar(true), one = Tensor::scalar(1.0f);

  auto results = run("Loop", services, {Value(), always, one}, 2);
  CHECK(number(results[0]) == 32);
  CHECK(numbers(results[1]) == std::vector<float>{1, 2, 4, 8, 16});

  results = run("Loop", services, {Tensor::scalar(std::int64_t(2)), always, one}, 2);
  CHECK(number(results[0]) == 4);
  CHECK(numbers(results[1]) == std::vector<float>{1, 2});

  // Without an iteration the variable keeps its value.
  CHECK(number(run("Loop", services, {Value(), Tensor::scalar(false), one}, 1)[0]) == 1);
}

TEST_CASE("a Loop without end is ended by the budget") {
  Services services;
  services.graphs.emplace("body", FunctionGraph(2, 2, [](std::span<const Value>) {
                            return std::vector<Value>{Tensor::scalar(true), Tensor::scalar(1.0f)};
                          }));
  CHECK_THROWS_WITH(run("Loop", services, {Value(), Tensor::scalar(true)}, 1),
                    Catch::Matchers::Contains("did not end within 100 iterations"));
}

TEST_CASE("a Loop whose body has other inputs than the node is refused") {
  Services services;
  services.graphs.emplace("body", FunctionGraph(2, 1, [](std::span<const Value>) {
                            return std::vector<Value>{Tensor::scalar(true)};
                          }));
  CHECK_THROWS_AS(run("Loop", services, {Value(), Value(), Tensor::scalar(1.0f)}, 1), ShapeError);
}

TEST_CASE("outputs that a body does not give are refused") {
  Services services;
  services.graphs.emplace("body", FunctionGraph(2, 2, [](std::span<const Value> in) {
                            return std::vector<Value>{in[0], in[1]};
                          }));
  const Value x = Tensor::vector<float>({1, 2, 3});
  const Value sequence = Sequence{x.desc(), {x}};
  CHECK_THROWS_AS(run("Loop", services, {Value(), Tensor::scalar(true)}, 2), ShapeError);
  CHECK_THROWS_AS(run("Scan", services, {x, x}, 3, {{"num_scan_inputs", 1}}), ShapeError);
  CHECK_THROWS_AS(run("SequenceMap", services, {sequence, x}, 3), ShapeError);
}

TEST_CASE("Scan carries a state over slices") {
  Services services;
  services.graphs.emplace("body", FunctionGraph(2, 2, [](std::span<const Value> in) {
                            const float sum =
                                in[0].tensor().item<float>() + in[1].tensor().item<float>();
                            return std::vector<Value>{Tensor::scalar(sum), Tensor::scalar(sum)};
                          }));
  const Value zero = Tensor::scalar(0.0f), x = Tensor::vector<float>({1, 2, 3});
  const auto results = run("Scan", services, {zero, x}, 2, {{"num_scan_inputs", 1}});
  CHECK(number(results[0]) == 6);
  CHECK(numbers(results[1]) == std::vector<float>{1, 3, 6});
  CHECK_THROWS_AS(run("Scan", services, {zero, x}, 2, {{"num_scan_inputs", 3}}), ValueError);
  CHECK_THROWS_AS(run("Scan", services, {zero, Tensor::zeros(DType::float32, {101})}, 2,
                      {{"num_scan_inputs", 1}}),
                  ValueError);
}

TEST_CASE("Scan of opset 8 scans each sample of a batch as far as its sequence goes") {
  Services services;
  services.graphs.emplace("body", FunctionGraph(2, 2, [](std::span<const Value> in) {
                            const float sum = number(in[0]) + number(in[1]);
                            return std::vector<Value>{Tensor::scalar(sum), Tensor::scalar(sum)};
                          }));
  const Value zero = Tensor::zeros(DType::float32, {2}), all = {};
  const Value x = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto scan = [&](const Value& lengths, const Value& scanned) {
    return run("Scan", services, {lengths, zero, scanned}, 2, {{"num_scan_inputs", 1}}, 8);
  };
  CHECK(numbers(scan(all, x)[0]) == std::vector<float>{6, 15});
  CHECK(numbers(scan(all, x)[1]) == std::vector<float>{1, 3, 6, 4, 9, 15});
  const Value lengths = Tensor::vector<std::int64_t>({2, 1});
  CHECK(numbers(scan(lengths, x)[0]) == std::vector<float>{3, 4});
  CHECK(numbers(scan(lengths, x)[1]) == std::vector<float>{1, 3, 0, 4, 0, 0});
  CHECK_THROWS_AS(scan(Tensor::vector<std::int64_t>({2, 4}), x), ValueError);
  CHECK_THROWS_AS(scan(Tensor::vector<std::int64_t>({2, 0}), x), ShapeError);
  CHECK_THROWS_AS(scan(Tensor::vector<std::int64_t>({2}), x), ShapeError);
  CHECK_THROWS_AS(scan(all, Tensor::zeros(DType::float32, {3, 2})), ShapeError);
  CHECK_THROWS_AS(scan(all, Tensor::zeros(DType::float32, {2})), ShapeError);
  CHECK_THROWS_AS(run("Scan", services, {all, zero, x}, 2, {{"num_scan_inputs", 3}}, 8),
                  ValueError);
}

TEST_CASE("SequenceMap runs a graph on each element") {
  Services services;
  services.graphs.emplace(
      "body", FunctionGraph(2, 1, [](std::span<const Value> in) {
        return std::vector<Value>{Tensor::scalar(number(in[0]) + number(in[1]))};
      }));
  Sequence sequence{TensorDesc{DType::float32, {}}, {Tensor::scalar(1.0f), Tensor::scalar(2.0f)}};
  const auto results = run("SequenceMap", services, {sequence, Tensor::scalar(10.0f)}, 1);
  REQUIRE(results[0].sequence().values.size() == 2);
  CHECK(number(results[0].sequence().values[1]) == 12);
  Sequence shorter{TensorDesc{DType::float32, {}}, {Tensor::scalar(1.0f)}};
  CHECK_THROWS_AS(run("SequenceMap", services, {sequence, shorter}, 1), ShapeError);
}

TEST_CASE("a Loop goes back through its iterations, and reads what it promised alone") {
  Services services;
  // x becomes its square; the old x is stacked.
  services.graphs.emplace(
      "body", FunctionGraph(
                  3, 3,
                  [](std::span<const Value> in) {
                    const float x = number(in[2]);
                    return std::vector<Value>{in[1], Tensor::scalar(x * x), Tensor::scalar(x)};
                  },
                  [](const std::vector<Value>& in, std::span<const Tensor> slopes) {
                    const float x = number(in[2]);
                    const float slope = 2 * x * slopes[1].item<float>() + slopes[2].item<float>();
                    return std::vector<Tensor>{{}, {}, Tensor::scalar(slope)};
                  }));
  onnx::Node node;
  node.op_type = "Loop";
  node.opset = 21;
  node.inputs = {"trips", "go", "x"};
  node.outputs = {"last", "all"};
  const Value trips = Tensor::scalar(std::int64_t{2}), go = Tensor::scalar(true),
              x = Tensor::scalar(3.0f);
  const std::vector<const Value*> inputs{&trips, &go, &x};
  Value last, all;
  const std::vector<Value*> outputs{&last, &all};
  const OperatorRegistry& reference = framework("reference").part<OperatorRegistry>();
  const auto meaning = reference.make(node);
  NodeRun run(node, *meaning, {&reference}, {.grad_inputs = meaning->gradients()}, services,
              Guard::on);
  const Tensor of_last = Tensor::scalar(1.0f), of_all = Tensor::vector<float>({1, 1});
  Tensor slope = Tensor::scalar(0.0f);
  const std::vector<const Tensor*> grad_outputs{&of_last, &of_all};
  const std::vector<Tensor*> grad_inputs{nullptr, nullptr, &slope};
  for (int repetition = 0; repetition < 2; ++repetition) {
    run.plan(inputs, outputs);
    run.forward();
    CHECK(number(last) == 81);
    CHECK(numbers(all) == std::vector<float>{3, 9});
    run.backward(grad_outputs, grad_inputs);
    CHECK(slope.item<float>() == 4 * 27 + 1 + 2 * 3);  // slopes of x^4, x and x^2
  }
}
