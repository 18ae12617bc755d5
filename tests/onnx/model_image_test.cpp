// SPDX-License-Identifier: Apache-2.0
#include "d5/onnx/model_image.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <span>

#include "d5/onnx/file.hpp"

using namespace d5;

namespace {

/// y = x + b
onnx::Model addition() {
  onnx::Model model;
  model.opset_imports[""] = 14;
  model.graph.name = "addition";
  onnx::Type type;
  type.kind = ValueKind::tensor;
  type.dtype = DType::float32;
  type.has_shape = true;
  type.dims = {1000};
  model.graph.inputs = {{"x", type}};
  model.graph.outputs = {{"y", type}};
  model.graph.initializers["b"] = Tensor::zeros(DType::float32, {1000});
  onnx::Node& sum = model.graph.nodes.emplace_back();
  sum.op_type = "Add";
  sum.opset = 14;
  sum.inputs = {"x", "b"};
  sum.outputs = {"y"};
  return model;
}

}  // namespace

TEST_CASE("a model that one message holds is bytes") {
  const onnx::ModelImage image(addition());
  CHECK(image.path().empty());
  const auto bytes = std::as_bytes(std::span(image.bytes()));
  CHECK(onnx::parse(bytes, "image").graph.initializers.at("b").elements() == 1000);
}

TEST_CASE("a larger one is a file, as long as it is needed") {
  std::string path;
  {
    const onnx::ModelImage image(addition(), 100);
    path = image.path();
    CHECK(image.bytes().empty());
    CHECK(onnx::load(path).graph.initializers.at("b").elements() == 1000);
  }
  CHECK_FALSE(std::filesystem::exists(path));
}
