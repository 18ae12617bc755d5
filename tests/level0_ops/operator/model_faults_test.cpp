// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/model_faults.hpp"

#include <catch2/catch.hpp>

#include "d5/core/error.hpp"
#include "d5/core/tensor.hpp"
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

void expect_none(const onnx::Model& model) { expect_no_fault(model, kFaults, "mine"); }

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
