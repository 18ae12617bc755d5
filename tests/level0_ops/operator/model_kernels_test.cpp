// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/operator/model_kernels.hpp"

#include <catch2/catch.hpp>
#include <map>

#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;

namespace {

onnx::Model last_model;  // the last to be compiled

/// Somebody else's compiler: the reference behind the interface.
class OneNode final : public CompiledModel {
 public:
  explicit OneNode(const onnx::Model& model) : model_(model) { last_model = model; }

  void run(std::span<const Value* const> inputs, std::span<Value* const> outputs) override {
    const onnx::Graph& graph = model_.graph;
    std::map<std::string, Value> known;
    for (const auto& [name, tensor] : graph.initializers) known[name] = tensor;
    for (std::size_t i = 0; i < inputs.size(); ++i) known[graph.inputs[i].name] = *inputs[i];
    onnx::Node node = graph.nodes.front();
    std::vector<Value> values;
    for (const auto& name : node.inputs) values.push_back(name.empty() ? Value() : known.at(name));
    OperatorRunner runner(framework("reference").part<OperatorRegistry>(), node, values);
    runner.forward();
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const Tensor& result = runner.output(k).tensor();
      if (outputs[k]->is_tensor()) {
        outputs[k]->tensor().copy_from(result);
      } else {
        *outputs[k] = result.copy();
      }
    }
  }

 private:
  onnx::Model model_;
};

std::string no_int8(const ValueDesc& desc) {
  return desc.is_tensor() && desc.tensor.dtype == DType::int8 ? "int8" : "";
}

const OperatorRegistry& registry() {
  static OperatorRegistry made("compiling");
  static const bool filled = [] {
    add_model_kernels(
        made,
        [](const onnx::Model& model, const ModelTarget&) {
          if (model.graph.nodes[0].op_type == "Tan") throw Unsupported("no tangent here");
          return std::make_unique<OneNode>(model);
        },
        no_int8);
    return true;
  }();
  (void)filled;
  return made;
}

OperatorRunner run(const std::string& line, Mode mode = Mode::inference) {
  const OperatorCase op_case = parse_case(line);
  OperatorRunner runner(registry(), op_case.node, op_case.inputs, mode, Guard::on);
  runner.forward();
  return runner;
}

std::vector<std::string> inputs_of_last() {
  std::vector<std::string> names;
  for (const auto& input : last_model.graph.inputs) names.push_back(input.name);
  return names;
}

}  // namespace

TEST_CASE("a node runs as a model of that node, on memory of d5's") {
  const OperatorRunner runner = run("Add {1,2,3} {10}");
  const auto y = runner.output(0).tensor().span<float>();
  CHECK(std::vector<float>(y.begin(), y.end()) == std::vector<float>{11, 12, 13});
  CHECK(inputs_of_last() == std::vector<std::string>{"input_0", "input_1"});
  CHECK(last_model.opset_imports.at("") == 14);  // since then Add means this
}

TEST_CASE("what decides a shape is a constant of the model, other integers are inputs") {
  CHECK(to_string(run("Reshape 2x3 int64:{3,2}").output(0).tensor().shape()) == "3x2");
  CHECK(inputs_of_last() == std::vector<std::string>{"input_0"});
  CHECK(last_model.graph.initializers.contains("input_1"));
  (void)run("Add int64:{1,2} int64:{3,4}");
  CHECK(inputs_of_last().size() == 2);
}

TEST_CASE("the model declares inputs and outputs") {
  (void)run("MatMul 2x3 3x4");
  CHECK(onnx::to_string(last_model.graph.inputs.at(1).type) == "float32 3x4");
  CHECK(onnx::to_string(last_model.graph.outputs.at(0).type) == "float32 2x4");
}

TEST_CASE("an output whose size only running tells is what the model gives") {
  CHECK(to_string(run("NonZero {1,0,2}").output(0).tensor().shape()) == "1x2");
}

TEST_CASE("later values of inputs are seen") {
  OperatorRunner runner = run("Relu {1,-2}");
  runner.input(0).tensor().span<float>()[1] = 5;
  runner.forward();
  CHECK(runner.output(0).tensor().span<float>()[1] == 5);
}

TEST_CASE("what cannot be done is refused with the reason") {
  CHECK_THROWS_WITH(run("Tan {1}"), Catch::Contains("no tangent here"));
  CHECK_THROWS_WITH(run("Neg int8:{1}"), Catch::Contains("int8"));
  CHECK_THROWS_WITH(run("Relu {1}", Mode::training), Catch::Contains("gradients"));
}
