// SPDX-License-Identifier: Apache-2.0
// What ONNX Runtime compiles and then fails at is said before, so that another framework takes it.
#include <catch2/catch.hpp>

#include "d5/core/error.hpp"
#include "d5/level0_ops/operator_validation.hpp"
#include "d5/level1_network/executor_word.hpp"
#include "d5/level1_network/model_source.hpp"
#include "d5/level1_network/planned_steps.hpp"

using namespace d5;

namespace {

/// Who runs the one node of a case; the answer is the reference's.
std::string who_runs(const std::string& line) {
  INFO(line);
  const Network network = open_model(line);
  const ValueMap inputs = random_inputs(network);
  const auto mix = open_executor("onnxruntime+reference", network);
  const auto expected = make_executor(network)->inference(inputs);
  for (const auto& [name, value] : mix->inference(inputs)) {
    CHECK(compare_values(value, expected.at(name), {1e-4, 1e-5}).equal);
  }
  return std::string(planned_steps(*mix).front().framework);
}

}  // namespace

TEST_CASE("an attention whose mask has other last sizes than queries and keys goes elsewhere") {
  const std::string four = "Attention 2x4x3x8 2x4x5x8 2x4x5x8 ";
  for (const char* mask : {"3x5", "1x1x3x5", "2x1x3x5", "4x3x5", "bool:2x4x3x5"}) {
    CHECK(who_runs(four + mask) == "onnxruntime");
  }
  for (const char* mask : {"5", "1x5", "3x1", "2x1x1x5", "3x4", "bool:1x1x3x1"}) {
    CHECK(who_runs(four + mask) == "reference");
  }
  const std::string three = "Attention 2x3x32 2x5x32 2x5x32 ",
                    heads = " q_num_heads=4 kv_num_heads=4";
  CHECK(who_runs(three + "3x5" + heads) == "onnxruntime");
  CHECK(who_runs(three + "1x5" + heads) == "reference");
  const std::string past = " 2x4x2x8 2x4x2x8 outputs=3";
  CHECK(who_runs(four + "3x7" + past) == "onnxruntime");
  CHECK(who_runs(four + "3x5" + past) == "reference");
}

TEST_CASE("queries that are packed with keys and values go elsewhere") {
  const std::string attention = "com.microsoft.MultiHeadAttention ";
  CHECK(who_runs(attention + "2x3x32 2x5x32 2x5x32 num_heads=4") == "onnxruntime");
  CHECK(who_runs(attention + "2x3x4x3x8 num_heads=4") == "reference");
  CHECK(who_runs(attention + "2x3x32 2x5x4x2x8 num_heads=4") == "reference");
}

TEST_CASE("uniform numbers between bounds in the other order are refused: they end the process") {
  const Network network = open_model("RandomUniform high=-1 shape=2");
  CHECK_THROWS_WITH(open_executor("onnxruntime:session", network)->inference({}),
                    Catch::Contains("bounds"));
}

TEST_CASE("a product of float16 by a constant behind a Transpose of its batch is refused whole") {
  const auto product = [](std::vector<std::int64_t> order) {
    Network network("product");
    network.add_input("x", DType::float16, {2, 2, 2});
    network.add_constant("w", Tensor::zeros(DType::float16, {2, 3}));
    network.add_node("Transpose", {"x"}, {"t"}, {{"perm", std::move(order)}});
    network.add_node("MatMul", {"t", "w"}, {"y"});
    network.add_output("y");
    return network;
  };
  const ValueMap x = {{"x", Tensor::zeros(DType::float16, {2, 2, 2})}};
  CHECK_NOTHROW(open_executor("onnxruntime:session", product({0, 2, 1}))->inference(x));
  CHECK_THROWS_WITH(open_executor("onnxruntime:session", product({1, 0, 2}))->inference(x),
                    Catch::Contains("choose optimization=extended"));
  const std::string extended = "onnxruntime:session:optimization=extended";
  CHECK_NOTHROW(open_executor(extended, product({1, 0, 2}))->inference(x));
}

TEST_CASE("texts are gathered one by one, and slices of several refused") {
  const auto gathered = [](std::int64_t axis) {
    Network network("texts");
    network.add_input("texts", DType::string, {2, 2});
    network.add_constant("places", Tensor::vector<std::int64_t>({1}));
    network.add_node("Gather", {"texts", "places"}, {"y"}, {{"axis", axis}});
    network.add_output("y");
    const Tensor texts = Tensor::of<std::string>({2, 2}, {"a", "b", "c", "d"});
    const auto executor = open_executor("onnxruntime:session", network);
    const Tensor y = executor->inference({{"texts", texts}}).at("y").tensor().copy();
    return std::vector<std::string>(y.span<std::string>().begin(), y.span<std::string>().end());
  };
  const std::int64_t columns = GENERATE(1, -1);
  CHECK(gathered(columns) == std::vector<std::string>{"b", "d"});
  CHECK_THROWS_WITH(gathered(0), Catch::Contains("slices of several texts"));
}
