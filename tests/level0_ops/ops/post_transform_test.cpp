// SPDX-License-Identifier: Apache-2.0
// Post-transforms of ai.onnx.ml's models, by ONNX's text: the transform applies to the scores, and
// the label is the top class.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;

using Floats = std::vector<float>;
using Labels = std::vector<std::int64_t>;

namespace {

const std::vector<std::string> kTransforms = {"NONE", "SOFTMAX", "SOFTMAX_ZERO", "LOGISTIC",
                                              "PROBIT"};

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

/// The quantile of the normal distribution, by bisection of its distribution function.
double quantile(double p) {
  double low = -10, high = 10;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(-middle / std::sqrt(2)) / 2 < p ? low : high) = middle;
  }
  return low;
}

/// A transform's closed form, of scores none of which is 0.
std::vector<double> transformed(const std::string& transform, std::vector<double> scores) {
  double sum = 0;
  for (const double score : scores) sum += std::exp(score);
  for (double& score : scores) {
    score = transform == "NONE"       ? score
            : transform == "LOGISTIC" ? logistic(score)
            : transform == "PROBIT"   ? quantile(score)
                                      : std::exp(score) / sum;
  }
  return scores;
}

/// Two scores of one, `s`, as ONNX's reference implementation makes them.
std::vector<double> pair_of(const std::string& transform, double s, bool is_share) {
  if (transform == "PROBIT") is_share = true;
  if (transform != "PROBIT" && transform != "NONE") is_share = false;
  return transformed(transform, {is_share ? 1 - s : -s, s});
}

void check_near(const Floats& got, const std::vector<double>& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    // PROBIT is a formula that is right to 0.005.
    CHECK(double(got[i]) == Approx(expected[i]).margin(0.005).epsilon(1e-5));
  }
}

std::size_t top(const std::vector<double>& scores) {
  return std::size_t(std::ranges::max_element(scores) - scores.begin());
}

/// x <= 0 leads to leaf 1, else to leaf 2; x is 1.
const std::string kStump =
    " nodes_treeids=0x0x0 nodes_nodeids=0x1x2 nodes_featureids=0x0x0 nodes_values=0x0x0 "
    "nodes_modes=BRANCH_LEQ,LEAF,LEAF nodes_truenodeids=1x0x0 nodes_falsenodeids=2x0x0 ";

/// Leaf 2 votes `votes`, a class or target each; leaf 1 does with opposite weights of the last.
std::string tree(const std::string& op, const std::vector<double>& votes, const std::string& rest) {
  const std::string of = op == "TreeEnsembleClassifier" ? "class" : "target";
  std::string trees, nodes, ids, weights;
  for (std::size_t i = 0; i < votes.size(); ++i) {
    const char* cross = i == 0 ? "" : "x";
    trees += cross + std::string("0");
    nodes += cross + std::string("2");
    ids += fmt::format("{}{}", cross, i);
    weights += fmt::format("{}{}", cross, votes[i]);
  }
  return fmt::format(
      "ai.onnx.ml.{} 1x1{{1}}{}{}_treeids={} {}_nodeids={} {}_ids={} {}_weights={} {}", op, kStump,
      of, trees, of, nodes, of, ids, of, weights, rest);
}

}  // namespace

TEST_CASE("a tree's two classes of one score are transformed, and the larger one is the label") {
  for (const std::string& transform : kTransforms) {
    for (const double score : {0.3, 0.45, 0.7}) {
      INFO(transform << " of " << score);
      const std::string line = tree("TreeEnsembleClassifier", {score},
                                    "classlabels_int64s=0x1 outputs=2 post_transform=" + transform);
      const auto expected = pair_of(transform, score, true);
      check_near(result_of(line, 1), expected);
      CHECK(result_of<std::int64_t>(line) == Labels{std::int64_t(top(expected))});
    }
  }
  // p(1) = 0.574 is the larger one.
  const std::string logistic_tree = tree(
      "TreeEnsembleClassifier", {0.3}, "classlabels_int64s=0x1 outputs=2 post_transform=LOGISTIC");
  CHECK(result_of<std::int64_t>(logistic_tree) == Labels{1});
  CHECK(result_of(logistic_tree, 1).at(1) == Approx(0.574442517));
}

TEST_CASE("a score that may be negative is a distance") {
  for (const std::string transform : {"NONE", "SOFTMAX", "SOFTMAX_ZERO", "LOGISTIC"}) {
    for (const double score : {-0.3, 0.2, 2.0}) {
      INFO(transform << " of " << score);
      const std::string line = fmt::format(
          "ai.onnx.ml.TreeEnsembleClassifier 1x1{{1}}{}class_treeids=0x0 class_nodeids=1x2 "
          "class_ids=0x0 class_weights=-1x{} classlabels_int64s=0x1 outputs=2 post_transform={}",
          kStump, score, transform);
      const auto expected = pair_of(transform, score, false);
      check_near(result_of(line, 1), expected);
      CHECK(result_of<std::int64_t>(line) == Labels{std::int64_t(top(expected))});
    }
  }
}

TEST_CASE("a tree's score for each class is transformed, and the label is the top class") {
  for (const std::string& transform : kTransforms) {
    for (const std::vector<double>& scores :
         {std::vector{0.3, 0.2}, {0.2, 0.3}, {0.25, 0.75}, {0.1, 0.5, 0.4}, {0.6, 0.3, 0.1}}) {
      std::string labels = "0x1";
      if (scores.size() == 3) labels += "x2";
      const std::string line =
          tree("TreeEnsembleClassifier", scores,
               "outputs=2 classlabels_int64s=" + labels + " post_transform=" + transform);
      INFO(line);
      check_near(result_of(line, 1), transformed(transform, scores));
      CHECK(result_of<std::int64_t>(line) == Labels{std::int64_t(top(scores))});
    }
  }
}

TEST_CASE(
    "votes for the second class alone leave the first at 0, and the larger one is the label") {
  const auto line = [](double score, const std::string& transform) {
    return fmt::format(
        "ai.onnx.ml.TreeEnsembleClassifier 1x1{{1}}{}class_treeids=0x0 class_nodeids=1x2 "
        "class_ids=1x1 class_weights=0.1x{} classlabels_int64s=0x1 outputs=2 post_transform={}",
        kStump, score, transform);
  };
  CHECK(result_of<std::int64_t>(line(0.3, "NONE")) == Labels{1});
  CHECK(result_of(line(0.3, "NONE"), 1) == Floats{0, 0.3f});
  CHECK(result_of<std::int64_t>(line(0.3, "LOGISTIC")) == Labels{1});
  check_near(result_of(line(0.3, "LOGISTIC"), 1), {0.5, logistic(0.3)});
  check_near(result_of(line(0.3, "SOFTMAX"), 1), {1 - logistic(0.3), logistic(0.3)});
}

TEST_CASE("the top class is that of the transformed scores if zeros stay zeros") {
  // exp(-1) beside a zero that stays one.
  const std::string line = tree("TreeEnsembleClassifier", {-1, 0},
                                "classlabels_int64s=0x1 outputs=2 post_transform=SOFTMAX_ZERO");
  CHECK(result_of(line, 1) == Floats{1, 0});
  CHECK(result_of<std::int64_t>(line) == Labels{0});
}

TEST_CASE("scores that a transform makes equal keep their order") {
  const std::string line = tree("TreeEnsembleClassifier", {40, 50},
                                "classlabels_int64s=0x1 outputs=2 post_transform=LOGISTIC");
  CHECK(result_of(line, 1) == Floats{1, 1});
  CHECK(result_of<std::int64_t>(line) == Labels{1});
}

TEST_CASE("the transform applies to one target as to several") {
  for (const std::string& transform : kTransforms) {
    for (const std::vector<double>& scores : {std::vector{0.3}, {0.3, 0.6}}) {
      const auto expected = transformed(transform, scores);
      const std::string targets = fmt::format("{}", scores.size());
      const std::string end = " post_transform=" + transform;
      const std::string forest =
          tree("TreeEnsembleRegressor", scores, "n_targets=" + targets + end);
      INFO(forest);
      check_near(result_of(forest), expected);
      std::string weights = fmt::format("{}", scores[0]);
      if (scores.size() == 2) weights += fmt::format("x{}", scores[1]);
      check_near(result_of("ai.onnx.ml.LinearRegressor 1x1{1} coefficients=" + weights +
                           " targets=" + targets + end),
                 expected);
    }
    check_near(result_of("ai.onnx.ml.SVMRegressor 1x1{1} coefficients=0.3 rho=0 post_transform=" +
                         transform),
               transformed(transform, {0.3}));
  }
}

TEST_CASE("TreeEnsemble's transform has a number, and applies to one target too") {
  const auto score = [](int transform) {
    OperatorCase one = parse_case(
        "ai.onnx.ml.TreeEnsemble 1x1{1} n_targets=1 tree_roots=0 nodes_featureids=0 "
        "nodes_truenodeids=0 nodes_trueleafs=1 nodes_falsenodeids=1 nodes_falseleafs=1 "
        "leaf_targetids=0x0 post_transform=" +
        std::to_string(transform));
    one.node.attributes["nodes_modes"] = Tensor::of<std::uint8_t>({1}, {0});
    one.node.attributes["nodes_splits"] = Tensor::of<float>({1}, {0});
    one.node.attributes["leaf_weights"] = Tensor::of<float>({2}, {-1, 0.3F});
    OperatorRunner runner(framework("reference").part<OperatorRegistry>(), one.node, one.inputs);
    runner.forward();
    return double(runner.output(0).tensor().span<float>()[0]);
  };
  CHECK(score(0) == Approx(0.3));
  CHECK(score(1) == 1);
  CHECK(score(2) == Approx(logistic(0.3)));
  CHECK(score(3) == 1);
  CHECK(score(4) == Approx(quantile(0.3)).margin(0.005));
}

TEST_CASE("linear and support vector classifiers transform the two scores of one") {
  for (const std::string& transform : kTransforms) {
    for (const double score : {0.3, 0.7}) {
      INFO(transform << " of " << score);
      const std::string x = fmt::format("1x1{{{}}} ", score);
      const std::string end = "outputs=2 classlabels_ints=0x1 post_transform=" + transform;
      const auto expected = pair_of(transform, score, false);
      const std::string linear = "ai.onnx.ml.LinearClassifier " + x + "coefficients=1 " + end;
      check_near(result_of(linear, 1), expected);
      CHECK(result_of<std::int64_t>(linear) == Labels{std::int64_t(top(expected))});
      const std::string svm =
          "ai.onnx.ml.SVMClassifier " + x +
          "support_vectors=1x-1 coefficients=0.5x-0.5 vectors_per_class=1x1 rho=0 " + end;
      check_near(result_of(svm, 1), expected);
      CHECK(result_of<std::int64_t>(svm) == Labels{0});  // a vote: positive is the first class
    }
  }
}

TEST_CASE("the gradient of one target goes through its transform") {
  const auto gradient = [](const std::string& line) {
    OperatorRunner runner = run_case(line, Mode::training);
    runner.backward({Tensor::of<float>({1, 1}, {10})});
    return double(runner.grad_input(0).span<float>()[0]);
  };
  const double p = logistic(0.6), slope = 10 * 2 * p * (1 - p);
  for (const std::string op : {"LinearRegressor", "SVMRegressor"}) {
    const std::string line =
        "ai.onnx.ml." + op + " 1x1{0.3} coefficients=2 " + (op[0] == 'S' ? "rho=0 " : "");
    CHECK(gradient(line) == 20);
    CHECK(gradient(line + "post_transform=LOGISTIC") == Approx(slope));
    CHECK(gradient(line + "post_transform=SOFTMAX") == 0);  // it is 1 whatever it was
  }
  OperatorRunner runner = run_case(
      "ai.onnx.ml.LinearClassifier 1x1{0.3} coefficients=2 classlabels_ints=5x6 outputs=2 "
      "post_transform=SOFTMAX",
      Mode::training);
  runner.backward({Tensor(), Tensor::of<float>({1, 2}, {0, 1})});
  // softmax(-s, s) is logistic(2 s), s = 2 x.
  const double q = logistic(1.2);
  CHECK(double(runner.grad_input(0).span<float>()[0]) == Approx(4 * q * (1 - q)));
}
