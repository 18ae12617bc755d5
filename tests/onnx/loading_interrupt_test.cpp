// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "messages.hpp"
#include "tests/interrupted_everywhere.hpp"

namespace d5::onnx {
namespace {

TEST_CASE("loading can be ended at its stages and before each tensor") {
  auto message = model_message();
  auto& graph = *message.mutable_graph();
  declare(*graph.add_input(), "x", {2});
  declare(*graph.add_output(), "y", {2});
  for (const char* name : {"a", "b", "c"}) {
    auto& tensor = *graph.add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(::onnx::TensorProto::FLOAT);
    tensor.add_dims(2);
    for (const float v : {1.0f, 2.0f}) tensor.add_float_data(v);
  }
  add_node(graph, "Sum", {"x", "a", "b", "c"}, {"y"});
  const std::string bytes = message.SerializeAsString();
  const int asked = testing::interrupted_everywhere([&](const Interrupt& interrupt) {
    const Model model = parse(bytes_of(bytes), "sum.onnx", {.interrupt = interrupt});
    CHECK(model.graph.initializers.size() == 3);
  });
  CHECK(asked >= 3 + 2);
}

}  // namespace
}  // namespace d5::onnx
