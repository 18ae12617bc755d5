// SPDX-License-Identifier: Apache-2.0
// Sequences, optionals and texts: values that are no plain tensors of numbers.
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;

namespace {

onnx::Node node(const std::string& op, std::size_t inputs) {
  onnx::Node result;
  result.op_type = op;
  result.opset = 21;
  for (std::size_t i = 0; i < inputs; ++i) result.inputs.push_back("x" + std::to_string(i));
  result.outputs = {"y"};
  return result;
}

Value run(const onnx::Node& what, std::vector<Value> inputs) {
  OperatorRunner runner(framework("reference").part<OperatorRegistry>(), what, std::move(inputs));
  runner.forward();
  return runner.output(0);
}
Value run(const std::string& op, std::vector<Value> inputs) {
  return run(node(op, inputs.size()), inputs);
}

Value numbers() {
  return run("SequenceConstruct", {Tensor::vector<float>({1}), Tensor::vector<float>({2, 3})});
}
Value at(std::int64_t position) { return Tensor::scalar(position); }
float first(const Value& value) { return value.tensor().data<float>()[0]; }

}  // namespace

TEST_CASE("a sequence is made, asked, grown and shrunk") {
  const Value sequence = numbers();
  CHECK(run("SequenceLength", {sequence}).tensor().item<std::int64_t>() == 2);
  CHECK(first(run("SequenceAt", {sequence, at(-1)})) == 2);
  const Value longer = run("SequenceInsert", {sequence, Tensor::vector<float>({9}), at(0)});
  CHECK(first(run("SequenceAt", {longer, at(0)})) == 9);
  CHECK(first(run("SequenceAt", {longer, at(1)})) == 1);
  CHECK(sequence.sequence().values.size() == 2);
  const Value shorter = run("SequenceErase", {longer});
  CHECK(shorter.sequence().values.size() == 2);
  CHECK(first(run("SequenceAt", {shorter, at(1)})) == 1);
  CHECK(run("SequenceEmpty", {}).sequence().values.empty());
}

TEST_CASE("positions outside a sequence are refused") {
  CHECK_THROWS_AS(run("SequenceAt", {numbers(), at(2)}), ValueError);
  CHECK_THROWS_AS(run("SequenceAt", {numbers(), at(-3)}), ValueError);
  CHECK_THROWS_AS(run("SequenceInsert", {numbers(), Tensor::scalar(1.0f), at(3)}), ValueError);
  CHECK_THROWS_AS(run("SequenceInsert", {numbers(), Tensor::scalar(1.0)}), TypeError);
  CHECK_THROWS_AS(run("SequenceErase", {run("SequenceEmpty", {})}), ValueError);
  CHECK_THROWS_AS(run("SequenceLength", {Tensor::scalar(1.0f)}), TypeError);
}

TEST_CASE("a sequence keeps its tensors though the sources change") {
  Tensor source = Tensor::vector<float>({1});
  const Value sequence = run("SequenceConstruct", {source});
  source.data<float>()[0] = 7;
  CHECK(first(sequence.sequence().values[0]) == 1);
}

TEST_CASE("a tensor is split into a sequence and joined again") {
  const Tensor x = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  onnx::Node split = node("SplitToSequence", 2);
  split.attributes["axis"] = std::int64_t(1);
  const Value parts = run(split, {x, Tensor::vector<std::int64_t>({1, 2})});
  CHECK(to_string(parts.sequence().values[1].desc()) == "float32 2x2");
  onnx::Node join = node("ConcatFromSequence", 1);
  join.attributes["axis"] = std::int64_t(1);
  const Value whole = run(join, {parts});
  CHECK(compare_values(whole, x, {}).equal);

  CHECK(run(split, {x, Tensor::scalar(std::int64_t(2))}).sequence().values.size() == 2);
  CHECK_THROWS_AS(run(split, {x, Tensor::vector<std::int64_t>({1, 1})}), ValueError);
  CHECK_THROWS_AS(run(split, {x, Tensor::scalar(std::int64_t(0))}), ValueError);

  onnx::Node slices = node("SplitToSequence", 1);
  slices.attributes["keepdims"] = std::int64_t(0);
  const Value rows = run(slices, {x});
  CHECK(to_string(rows.sequence().values[1].desc()) == "float32 3");
  join.attributes["axis"] = std::int64_t(0);
  join.attributes["new_axis"] = std::int64_t(1);
  CHECK(compare_values(run(join, {rows}), x, {}).equal);
  join.attributes["new_axis"] = std::int64_t(0);
  join.attributes["axis"] = std::int64_t(1);
  CHECK_THROWS_AS(run(join, {numbers()}), ValueError);
}

TEST_CASE("an optional has an element or not") {
  const Value some = run("Optional", {Tensor::vector<float>({4})});
  CHECK(run("OptionalHasElement", {some}).tensor().item<bool>());
  CHECK(first(run("OptionalGetElement", {some})) == 4);
  const Value none = Optional{TensorDesc{DType::float32, {}}, nullptr};
  CHECK_FALSE(run("OptionalHasElement", {none}).tensor().item<bool>());
  CHECK_THROWS_AS(run("OptionalGetElement", {none}), ValueError);
  CHECK_FALSE(run("OptionalHasElement", {}).tensor().item<bool>());
  CHECK(run("OptionalHasElement", {Tensor::scalar(1.0f)}).tensor().item<bool>());
  CHECK(run("OptionalGetElement", {numbers()}).sequence().values.size() == 2);
}

TEST_CASE("texts are joined with broadcasting") {
  CHECK(result_of<std::string>("StringConcat string:{abc,def} string:{.com}") ==
        std::vector<std::string>{"abc.com", "def.com"});
  CHECK_THROWS_AS(run_case("StringConcat {1} {2}"), TypeError);
}
