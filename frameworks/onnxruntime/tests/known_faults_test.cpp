// SPDX-License-Identifier: Apache-2.0
// Known faults of ONNX Runtime are refused before planning, so that another framework runs the
// node.
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/validation/operator_validation.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/plan/planned_steps.hpp"
#include "d5/level1_network/source/model_source.hpp"

using namespace d5;

namespace {

/// Framework that runs the single node of a case; its result equals the reference's.
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

namespace {

const std::string kStump =
    " nodes_treeids=0x0x0 nodes_nodeids=0x1x2 nodes_featureids=0x0x0 nodes_values=0x0x0 "
    "nodes_modes=BRANCH_LEQ,LEAF,LEAF nodes_truenodeids=1x0x0 nodes_falsenodeids=2x0x0 ";

/// The votes of leaf 1 and leaf 2 for classes.
std::string stump(const std::string& ids, const std::string& weights, const std::string& rest) {
  return "ai.onnx.ml.TreeEnsembleClassifier@3 5x1" + kStump +
         "class_treeids=0x0 class_nodeids=1x2 outputs=2 class_ids=" + ids +
         " class_weights=" + weights + " " + rest;
}

}  // namespace

TEST_CASE("trees whose label is not the top class, or whose transform is left out, go elsewhere") {
  const std::string two = "classlabels_int64s=5x6 post_transform=";
  const std::string ours = "reference", theirs = "onnxruntime";
  CHECK(who_runs(stump("0x0", "0.3x0.7", two + "NONE")) == theirs);
  CHECK(who_runs(stump("0x0", "-0.3x0.7", two + "LOGISTIC")) == theirs);
  CHECK(who_runs(stump("1x1", "-0.3x0.7", two + "LOGISTIC")) == theirs);
  CHECK(who_runs(stump("0x0", "0.3x0.7", two + "LOGISTIC")) == ours);
  CHECK(who_runs(stump("0x0", "-0.3x0.7", two + "SOFTMAX")) == ours);
  CHECK(who_runs(stump("0x0", "0.3x0.7", two + "PROBIT")) == ours);
  CHECK(who_runs(stump("1x1", "0.3x0.7", two + "NONE")) == ours);
  CHECK(who_runs(stump("0x1", "0.3x0.7", two + "NONE")) == ours);
  CHECK(who_runs(stump("1x1", "-0.3x0.7", two + "NONE base_values=0.5")) == ours);
  const std::string three = "classlabels_int64s=5x6x7 post_transform=";
  CHECK(who_runs(stump("0x2", "0.3x0.7", three + "SOFTMAX")) == theirs);
  CHECK(who_runs(stump("0x2", "-0.3x0.7", three + "SOFTMAX")) == ours);
  const std::string regressor = "ai.onnx.ml.TreeEnsembleRegressor@3 5x1" + kStump +
                                "target_treeids=0x0 target_nodeids=1x2 target_weights=0.3x0.7 ";
  CHECK(who_runs(regressor + "target_ids=0x1 n_targets=2 post_transform=LOGISTIC") == theirs);
  CHECK(who_runs(regressor + "target_ids=0x0 n_targets=1 post_transform=PROBIT") == theirs);
  CHECK(who_runs(regressor + "target_ids=0x0 n_targets=1 post_transform=LOGISTIC") == ours);
  CHECK(who_runs(regressor + "target_ids=0x0 post_transform=SOFTMAX") == ours);
}

TEST_CASE("linear and support vector models whose transform is left out go elsewhere") {
  const std::string ours = "reference", theirs = "onnxruntime";
  const std::string classifier =
      "ai.onnx.ml.LinearClassifier 5x2 intercepts=0.1 coefficients=1x-1 classlabels_ints=5x6 "
      "outputs=2 post_transform=";
  CHECK(who_runs(classifier + "LOGISTIC") == theirs);
  CHECK(who_runs(classifier + "NONE") == ours);
  CHECK(who_runs(classifier + "SOFTMAX") == ours);
  const std::string regressor = "ai.onnx.ml.LinearRegressor 5x2 coefficients=1x-1x2x1 ";
  CHECK(who_runs(regressor + "intercepts=0x1 targets=2 post_transform=LOGISTIC") == theirs);
  const std::string one = "ai.onnx.ml.LinearRegressor 5x2 coefficients=1x-1 intercepts=1 ";
  CHECK(who_runs(one) == theirs);
  CHECK(who_runs(one + "post_transform=LOGISTIC") == ours);
  const std::string svm =
      "x2 support_vectors=1x2x0x1x-1x0 coefficients=0.5x-0.5x0.25 kernel_params=0.5x0x3 ";
  const std::string machine = "ai.onnx.ml.SVMClassifier 5" + svm +
                              "vectors_per_class=2x1 rho=-0.2 classlabels_ints=5x6 outputs=2 ";
  CHECK(who_runs(machine + "post_transform=LOGISTIC") == theirs);
  CHECK(who_runs(machine + "post_transform=SOFTMAX") == ours);
  const std::string regression = "ai.onnx.ml.SVMRegressor 5" + svm + "n_supports=3 rho=0.1 ";
  CHECK(who_runs(regression) == theirs);
  CHECK(who_runs(regression + "post_transform=LOGISTIC") == ours);
}

TEST_CASE("uniform numbers between bounds in the other order are refused: they end the process") {
  const Network network = open_model("RandomUniform high=-1 shape=2");
  CHECK_THROWS_WITH(open_executor("onnxruntime:session", network)->inference({}),
                    Catch::Contains("bounds"));
}

namespace {

/// y = Transpose(x) * w in float16; all sizes are 2, except 3 for the last one.
struct TransposedProduct {
  std::vector<std::int64_t> order;
  std::int64_t weight_rank = 2;
  bool is_output = false;  ///< the transposed tensor is an output, too
};

Network network_of(const TransposedProduct& told) {
  const std::vector<std::int64_t> sizes(told.order.size(), 2);
  std::vector<std::int64_t> of_weights(std::size_t(told.weight_rank), 2);
  of_weights.back() = 3;
  Network network("product");
  network.add_input("x", DType::float16, {sizes.begin(), sizes.end()});
  network.add_constant("w", Tensor::zeros(DType::float16, Shape(of_weights)));
  network.add_node("Transpose", {"x"}, {"t"}, {{"perm", told.order}});
  network.add_node("MatMul", {"t", "w"}, {"y"});
  network.add_output("y");
  if (told.is_output) network.add_output("t");
  return network;
}

void run(const TransposedProduct& told, const std::string& word = "onnxruntime:session") {
  const std::vector<std::int64_t> sizes(told.order.size(), 2);
  (void)open_executor(word, network_of(told))
      ->inference({{"x", Tensor::zeros(DType::float16, Shape(sizes))}});
}

}  // namespace

TEST_CASE("a product of float16 by a constant behind a Transpose of its batch is refused whole") {
  for (const auto& order : {std::vector<std::int64_t>{1, 0, 2}, {1, 2, 0}}) {
    CHECK_THROWS_WITH(run({order}), Catch::Contains("choose optimization=extended"));
    CHECK_NOTHROW(run({order}, "onnxruntime:session:optimization=extended"));
  }
  // The library runs nodes that it does not fuse.
  CHECK_NOTHROW(run({{0, 2, 1}}));
  CHECK_NOTHROW(run({{2, 1, 0}}));
  CHECK_NOTHROW(run({{1, 0, 2, 3}}));
  CHECK_NOTHROW(run({.order = {1, 0, 2}, .weight_rank = 3}));
  CHECK_NOTHROW(run({.order = {1, 0, 2}, .is_output = true}));
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
  CHECK_THROWS_WITH(gathered(0), Catch::Contains("slices of several strings"));
}
