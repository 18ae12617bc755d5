// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/operator/model_faults.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/tensor.hpp"
#include "d5/level0_ops/operator/model_kernels.hpp"
#include "d5/level0_ops/validation/operator_validation.hpp"
#include "onnx/tensor_type.hpp"

using namespace d5;
using Catch::Contains;

namespace {

onnx::Node node(std::string op_type, std::vector<std::string> inputs, std::string output) {
  onnx::Node made;
  made.op_type = std::move(op_type);
  made.opset = 20;
  made.inputs = std::move(inputs);
  made.outputs = {std::move(output)};
  return made;
}

/// A model of `nodes` with one input x.
onnx::Model model_of(std::vector<onnx::Node> nodes, DType dtype = DType::float32) {
  onnx::Model model;
  model.ir_version = 10;
  model.opset_imports = {{"", 20}, {"org.example", 1}};
  model.graph.name = "tried";
  model.graph.inputs = {{"x", tensor_type(dtype, {2})}};
  model.graph.nodes = std::move(nodes);
  return model;
}

const ModelFault kFaults[] = {{"Div",
                               [](const KnownNode& known) -> std::string {
                                 return known.type(0).dtype == DType::int32 ? "int32" : "";
                               }},
                              {"Pad",
                               [](const KnownNode& known) -> std::string {
                                 return known.constant(1) ? "" : "pads that are no constant";
                               }},
                              {"Strange", [](const KnownNode& known) -> std::string {
                                 const bool open = known.type(0).dtype == DType::undefined &&
                                                   known.type(7).dtype == DType::undefined;
                                 return open ? "" : "a known type";
                               }}};

void expect_none(const onnx::Model& model) { expect_no_fault(model, kFaults, "mine", "1.0"); }

/// The model that "negating" compiles: -x.
class Negated final : public CompiledModel {
 public:
  void run(std::span<const Value* const> inputs, std::span<Value* const> outputs) override {
    const auto x = inputs[0]->tensor().span<float>();
    float* y = outputs[0]->tensor().data<float>();
    std::ranges::transform(x, y, std::negate<float>());
  }
};

/// A framework that compiles models, and was wrong before 1.10.
void add_negating(const std::string& name, const std::string& version) {
  add_framework(name, version, [version](Framework& framework) {
    static constexpr ModelFault kWrong[] = {
        {"Neg", [](const KnownNode&) -> std::string { return "negative numbers"; }, "1.10"}};
    add_model_kernels(
        framework.part<OperatorRegistry>(),
        [version](const onnx::Model& model, const ModelTarget&) {
          expect_no_fault(model, kWrong, "Negating", version);
          return std::make_unique<Negated>();
        },
        [](const ValueDesc&) { return std::string(); });
  });
}

}  // namespace

TEST_CASE("a row sees the types of inner values") {
  const auto divided = [](DType dtype) {
    auto last = node("Div", {"square", "x"}, "y");
    last.name = "last";
    return model_of({node("Mul", {"x", "x"}, "square"), last}, dtype);
  };
  CHECK_NOTHROW(expect_none(divided(DType::float32)));
  CHECK_THROWS_AS(expect_none(divided(DType::int32)), Unsupported);
  CHECK_THROWS_WITH(expect_none(divided(DType::int32)),
                    Contains("Div 'last'") && Contains("mine does not support int32"));
}

TEST_CASE("a row sees what is constant") {
  onnx::Model model = model_of({node("Pad", {"x", "pads"}, "y")});
  model.graph.initializers["pads"] = Tensor::vector<std::int64_t>({1, 1});
  CHECK_NOTHROW(expect_none(model));
  model.graph.initializers.clear();
  CHECK_THROWS_WITH(expect_none(model), Contains("no constant"));
}

TEST_CASE("a type that nobody knows is undefined, and so is that of an input that is left out") {
  auto first = node("Open", {}, "open"), second = node("Strange", {"open"}, "y");
  first.domain = second.domain = "org.example";
  first.opset = second.opset = 1;
  CHECK_NOTHROW(expect_none(model_of({first, second})));
}

TEST_CASE("nodes of graphs that a node holds are looked at") {
  auto inner = std::make_shared<onnx::Graph>();
  inner->nodes = {node("Pad", {"x", "pads"}, "z")};
  auto outer = node("If", {"x"}, "y");
  outer.attributes["then_branch"] = std::shared_ptr<const onnx::Graph>(inner);
  CHECK_THROWS_WITH(expect_none(model_of({outer})), Contains("no constant"));
}

TEST_CASE("a fault is refused until the version that is right") {
  const ModelFault faults[] = {
      {"Mul", [](const KnownNode&) -> std::string { return "products"; }, "1.10"}};
  const onnx::Model model = model_of({node("Mul", {"x", "x"}, "y")});
  const auto expect = [&](std::string_view version) {
    expect_no_fault(model, faults, "mine", version);
  };
  for (const char* older : {"1.9", "1.9.7", "0.99", "1", "1.9-rc2"}) {
    CAPTURE(older);
    CHECK_THROWS_WITH(expect(older), Contains("mine does not support products; 1.10 does"));
  }
  for (const char* right : {"1.10", "1.10.0", "1.10.1-4-g12ab", "2.0", "1.10+cpu"}) {
    CAPTURE(right);
    CHECK_NOTHROW(expect(right));
  }
}

TEST_CASE("a plug-in refuses what its version gets wrong, and runs it where that is right") {
  add_negating("negating", "1.9.2");
  add_negating("negating later", "1.10");
  const OperatorCase one = parse_case("Neg 2x3");
  const auto refused = test_forward(one, "negating");
  CHECK(refused[0].status == Status::unsupported);
  CHECK_THAT(refused[0].reason, Contains("Negating does not support negative numbers; 1.10 does"));
  CHECK(test_forward(one, "negating later")[0].status == Status::passed);
}
