// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/operator/compiled_model.hpp"

#include <catch2/catch.hpp>

using namespace d5;

namespace {

onnx::ValueInfo floats(const std::string& name, std::vector<onnx::Dim> dims) {
  onnx::Type type;
  type.kind = ValueKind::tensor;
  type.dtype = DType::float32;
  type.has_shape = true;
  type.dims = std::move(dims);
  return {name, type};
}

}  // namespace

TEST_CASE("open sizes are those that are declared, and nothing between nodes has any") {
  onnx::Model model;
  model.graph.inputs = {floats("x", {std::int64_t{2}}), floats("w", {std::int64_t{3}})};
  model.graph.outputs = {floats("y", {std::int64_t{2}})};
  model.graph.values = {floats("between", {std::int64_t{2}})};
  const ModelTarget target{.declared = {floats("x", {"N"})}};
  const onnx::Model open = with_open_sizes(model, target);
  CHECK(open.graph.inputs[0].type.dims == std::vector<onnx::Dim>{"N"});
  CHECK(open.graph.inputs[1].type.dims == std::vector<onnx::Dim>{std::int64_t{3}});
  CHECK(open.graph.outputs[0].type.dims == std::vector<onnx::Dim>{std::int64_t{2}});
  CHECK(open.graph.values.empty());
}

TEST_CASE("a model not compilable for its sizes is compiled for any, or gives the first reason") {
  onnx::Model model;
  model.graph.inputs = {floats("x", {std::int64_t{2}})};
  const ModelTarget target{.declared = {floats("x", {"N"})}};
  const auto takes_open = [](const onnx::Model& given) {
    if (given.graph.inputs[0].type.dims[0] != onnx::Dim("N")) throw std::runtime_error("2");
    return 7;
  };
  CHECK(for_its_sizes_or_any(model, target, takes_open) == 7);
  CHECK_THROWS_WITH(for_its_sizes_or_any(model, {}, takes_open), "2");
  const auto takes_none = [](const onnx::Model& given) -> int {
    const bool is_open = given.graph.inputs[0].type.dims[0] == onnx::Dim("N");
    throw std::runtime_error(is_open ? "open" : "2");
  };
  CHECK_THROWS_WITH(for_its_sizes_or_any(model, target, takes_none), "2");
}
