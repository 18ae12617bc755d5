// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;

using Floats = std::vector<float>;
using Labels = std::vector<std::int64_t>;

namespace {

// x <= 0 leads to leaf 1, else to leaf 2.
const std::string kStump =
    "nodes_treeids=0x0x0 nodes_nodeids=0x1x2 nodes_featureids=0x0x0 nodes_values=0x0x0 "
    "nodes_modes=BRANCH_LEQ,LEAF,LEAF nodes_truenodeids=1x0x0 nodes_falsenodeids=2x0x0 ";
// Trees 0 and 1 ask whether x0 <= 0 and x1 <= 0.
const std::string kTwoTrees =
    "nodes_treeids=0x0x0x1x1x1 nodes_nodeids=0x1x2x0x1x2 nodes_featureids=0x0x0x1x0x0 "
    "nodes_values=0x0x0x0x0x0 nodes_modes=BRANCH_LEQ,LEAF,LEAF,BRANCH_LEQ,LEAF,LEAF "
    "nodes_truenodeids=1x0x0x1x0x0 nodes_falsenodeids=2x0x0x2x0x0 ";

std::string regressor(const std::string& x, const std::string& rest) {
  return "ai.onnx.ml.TreeEnsembleRegressor " + x +
         " target_treeids=0x0 target_nodeids=1x2 "
         "target_ids=0x0 target_weights=1x2 n_targets=1 " +
         rest;
}
std::string classifier(const std::string& rest) {
  return "ai.onnx.ml.TreeEnsembleClassifier 2x1{-1,1} class_treeids=0x0 class_nodeids=1x2 "
         "classlabels_int64s=5x6 outputs=2 " +
         kStump + rest;
}

/// Two roots that share node 1, whose set holds 1 and 2: feature 1 is asked there.
OperatorCase shared_trees(const std::string& rest) {
  OperatorCase result = parse_case(
      "ai.onnx.ml.TreeEnsemble 3x2{0,2,1,3,1,1} n_targets=2 tree_roots=0x1 nodes_featureids=0x1 "
      "nodes_truenodeids=0x1 nodes_trueleafs=1x1 nodes_falsenodeids=1x2 nodes_falseleafs=0x1 "
      "leaf_targetids=0x1x0 " +
      rest);
  auto& attributes = result.node.attributes;
  attributes["nodes_modes"] = Tensor::of<std::uint8_t>({2}, {0, 6});
  attributes["nodes_splits"] = Tensor::of<float>({2}, {0.5f, 0});
  attributes["leaf_weights"] = Tensor::of<float>({3}, {1, 2, 4});
  attributes["membership_values"] = Tensor::of<float>({3}, {1, 2, NAN});
  return result;
}

Floats run_ensemble(const OperatorCase& op_case) {
  OperatorRunner runner(framework("reference").part<OperatorRegistry>(), op_case.node,
                        op_case.inputs, Mode::inference, Guard::on);
  runner.forward();
  const auto y = runner.output(0).tensor().span<float>();
  return {y.begin(), y.end()};
}

}  // namespace

TEST_CASE("a tree leads each sample to a leaf, whose votes are its score") {
  CHECK(result_of(regressor("3x1{-1,0,1}", kStump)) == Floats{1, 1, 2});
  CHECK(result_of(regressor("float64:0x1", kStump)).empty());
}

TEST_CASE("each comparison is the one that its name says, and NaN fulfils NEQ alone") {
  const auto scores = [](const std::string& mode, const std::string& more = "") {
    return result_of(regressor("4x1{-1,0,1,nan}",
                               "nodes_treeids=0x0x0 nodes_nodeids=0x1x2 nodes_featureids=0x0x0 "
                               "nodes_values=0x0x0 nodes_truenodeids=1x0x0 "
                               "nodes_falsenodeids=2x0x0 nodes_modes=" +
                                   mode + ",LEAF,LEAF" + more));
  };
  CHECK(scores("BRANCH_LEQ") == Floats{1, 1, 2, 2});
  CHECK(scores("BRANCH_LT") == Floats{1, 2, 2, 2});
  CHECK(scores("BRANCH_GTE") == Floats{2, 1, 1, 2});
  CHECK(scores("BRANCH_GT") == Floats{2, 2, 1, 2});
  CHECK(scores("BRANCH_EQ") == Floats{2, 1, 2, 2});
  CHECK(scores("BRANCH_NEQ") == Floats{1, 2, 1, 1});
  CHECK(scores("BRANCH_LT", " nodes_missing_value_tracks_true=1x0x0") == Floats{1, 2, 2, 1});
}

TEST_CASE("scores of several trees are summed, averaged, or their least or largest is taken") {
  const std::string line =
      "ai.onnx.ml.TreeEnsembleRegressor 2x2{-1,-1,1,-1} target_treeids=0x0x1x1 "
      "target_nodeids=1x2x1x2 target_ids=0x1x1x0 target_weights=1x2x4x8 n_targets=2 "
      "base_values=0.5x0.25 " +
      kTwoTrees + "aggregate_function=";
  CHECK(result_of(line + "SUM") == Floats{1.5, 4.25, 0.5, 6.25});
  CHECK(result_of(line + "AVERAGE") == Floats{1, 2.25, 0.5, 3.25});
  CHECK(result_of(line + "MIN") == Floats{1.5, 4.25, 0.5, 2.25});
  CHECK(result_of(line + "MAX") == Floats{1.5, 4.25, 0.5, 4.25});
}

TEST_CASE("a classifier takes the class with the largest score") {
  const std::string line =
      "ai.onnx.ml.TreeEnsembleClassifier 2x2{-1,-1,1,1} class_treeids=0x0x1x1 "
      "class_nodeids=1x2x1x2 class_ids=0x1x0x2 class_weights=1x2x4x8 "
      "classlabels_strings=a,b,c outputs=2 base_values=0x0x0.5 " +
      kTwoTrees;
  CHECK(result_of<std::string>(line) == std::vector<std::string>{"a", "c"});
  CHECK(result_of(line, 1) == Floats{5, 0, 0.5, 0, 2, 8.5});
}

// As in ONNX Runtime, and in models of gradient boosting.
TEST_CASE("votes for one of two classes are a share, or a distance where one is negative") {
  const std::string share = classifier("class_ids=0x0 class_weights=0.25x0.75 ");
  CHECK(result_of<std::int64_t>(share) == Labels{5, 6});
  CHECK(result_of(share, 1) == Floats{0.75, 0.25, 0.25, 0.75});
  const std::string distance = classifier("class_ids=0x0 class_weights=-0.25x0.75 ");
  CHECK(result_of<std::int64_t>(distance) == Labels{5, 6});
  CHECK(result_of(distance, 1) == Floats{0.25, -0.25, -0.75, 0.75});
  const Floats logistic = result_of(distance + "post_transform=LOGISTIC", 1);
  CHECK(logistic.at(2) == Approx(1 / (1 + std::exp(0.75))));
  CHECK(logistic.at(3) == Approx(1 / (1 + std::exp(-0.75))));
}

TEST_CASE("half of the votes, as float32 tells it, is no majority") {
  std::string line =
      "ai.onnx.ml.TreeEnsembleClassifier 1x2{1,1} class_treeids=0x0x1x1 "
      "class_nodeids=1x2x1x2 class_ids=0x0x0x0 class_weights=0x0.3x0x0.2 "
      "classlabels_int64s=5x6 outputs=2 " +
      kTwoTrees;
  CHECK(result_of<std::int64_t>(line) == Labels{5});
}

TEST_CASE("TreeEnsemble's trees may share nodes, and ask for members of a set") {
  CHECK(run_ensemble(shared_trees("aggregate_function=1")) == Floats{1, 2, 8, 0, 0, 4});
  CHECK(run_ensemble(shared_trees("aggregate_function=0")) == Floats{0.5, 1, 4, 0, 0, 2});
  CHECK(run_ensemble(shared_trees("aggregate_function=3")) == Floats{1, 2, 4, 0, 0, 2});
}

TEST_CASE("trees with circles and loose ends are refused") {
  const auto with = [](const std::string& true_ids, const std::string& false_ids) {
    return regressor("1x1",
                     "nodes_treeids=0x0x0 nodes_nodeids=0x1x2 nodes_featureids=0x0x0 "
                     "nodes_values=0x0x0 nodes_modes=BRANCH_LEQ,BRANCH_LEQ,LEAF "
                     "nodes_truenodeids=" +
                         true_ids + " nodes_falsenodeids=" + false_ids);
  };
  CHECK_NOTHROW(run_case(with("1x2x0", "2x2x0")));
  CHECK_THROWS_AS(run_case(with("1x0x0", "2x2x0")), ValueError);
  CHECK_THROWS_AS(run_case(with("1x1x0", "2x2x0")), ValueError);
  CHECK_THROWS_AS(run_case(with("1x7x0", "2x2x0")), ValueError);
  OperatorCase circle = shared_trees("");
  circle.node.attributes["nodes_trueleafs"] = std::vector<std::int64_t>{0, 1};
  CHECK_THROWS_AS(run_ensemble(circle), ValueError);
  OperatorCase root = shared_trees("");
  root.node.attributes["tree_roots"] = std::vector<std::int64_t>{0, 2};
  CHECK_THROWS_AS(run_ensemble(root), ValueError);
}

TEST_CASE("forests refuse lists, features and targets that do not fit") {
  CHECK_THROWS_AS(run_case(regressor("1x1", kStump + "nodes_hitrates=1 n_targets=0")), ValueError);
  CHECK_THROWS_AS(run_case(regressor("1x0", kStump)), ShapeError);
  CHECK_THROWS_AS(run_case(regressor("1x1", kTwoTrees)), ShapeError);
  CHECK_THROWS_AS(run_case(regressor("1x1", "")), ValueError);
  CHECK_THROWS_AS(run_case(regressor("1x1", kStump + "aggregate_function=MEAN")), ValueError);
  CHECK_THROWS_WITH(
      run_case("ai.onnx.ml.TreeEnsembleRegressor 1x1 target_treeids=0x0 target_nodeids=1x2 "
               "target_ids=0x9223372036854775807 target_weights=1x2 " +
               kStump),
      Catch::Contains("expected a smaller one"));
  CHECK_THROWS_AS(run_case(regressor("1x1", kStump + "base_values=1x2")), ValueError);
  CHECK_THROWS_AS(run_case(classifier("class_ids=0x2 class_weights=1x1")), ValueError);
  CHECK_THROWS_AS(run_case(classifier("class_ids=0x1 class_weights=1")), ValueError);
  CHECK_THROWS_AS(run_ensemble(shared_trees("aggregate_function=4")), ValueError);
  CHECK_THROWS_AS(run_ensemble(shared_trees("post_transform=5")), ValueError);
}
