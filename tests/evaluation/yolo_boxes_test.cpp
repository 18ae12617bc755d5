// SPDX-License-Identifier: Apache-2.0
// Predictions of YOLO networks, decoded by hand.
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/pipeline/answer_step.hpp"

namespace d5 {
namespace {

ValueMap decoded(ValueMap values, const Settings& settings) {
  answer_steps().at("yolo_boxes").make(settings)->run(values);
  return values;
}

std::vector<float> numbers(const ValueMap& values, const std::string& name) {
  const Tensor& tensor = values.at(name).tensor();
  return {tensor.data<float>(), tensor.data<float>() + tensor.elements()};
}

/// Two predictions of two classes as columns: centre x, y, width, height, scores.
Tensor columns() {
  return Tensor::of<float>({6, 2}, {10, 50, 20, 60, 4, 8, 6, 2, 0.9F, 0.1F, 0.2F, 0.8F});
}

TEST_CASE("a prediction of a YOLO network is a column or a row") {
  const std::vector<float> boxes{8, 17, 12, 23, 46, 59, 54, 61}, scores{0.9F, 0.2F, 0.1F, 0.8F};
  const ValueMap by_column = decoded({{"out", columns()}}, {});
  CHECK(by_column.size() == 2);  // they replace the predictions
  CHECK(by_column.at("boxes").tensor().shape() == Shape{2, 4});
  CHECK(by_column.at("scores").tensor().shape() == Shape{2, 2});
  CHECK(numbers(by_column, "boxes") == boxes);
  CHECK(numbers(by_column, "scores") == scores);
  const Tensor rows =
      Tensor::of<float>({2, 6}, {10, 20, 4, 6, 0.9F, 0.2F, 50, 60, 8, 2, 0.1F, 0.8F});
  CHECK(numbers(decoded({{"out", rows}}, {{"layout", "rows"}}), "boxes") == boxes);
  // Values behind the scores are left out; other values stay.
  const ValueMap one = decoded({{"out", columns()}, {"masks", Tensor::scalar(1.0F)}},
                               {{"of", "out"}, {"classes", 1}});
  CHECK(numbers(one, "scores") == std::vector<float>{0.9F, 0.1F});
  CHECK(one.contains("masks"));
}

TEST_CASE("the objectness of a prediction multiplies its scores") {
  const ValueMap values = decoded({{"out", columns()}}, {{"objectness", true}});
  const auto scores = numbers(values, "scores");
  REQUIRE(scores.size() == 2);
  CHECK(scores[0] == Approx(0.9 * 0.2));
  CHECK(scores[1] == Approx(0.1 * 0.8));
}

TEST_CASE("predictions in cells are offsets and logarithms of sizes") {
  // An image of 32 x 32: 4 x 4 cells of 8 pixels, 2 x 2 of 16, and one of 32.
  Tensor rows = Tensor::zeros(DType::float32, {21, 5});
  float* at = rows.data<float>();
  const auto tell = [&](int prediction, float x, float y, double width, double height) {
    float* one = at + 5 * prediction;
    one[0] = x, one[1] = y, one[2] = float(std::log(width)), one[3] = float(std::log(height));
    one[4] = 1;
  };
  tell(6, 0.5F, 0.25F, 1, 2);     // column 2 and row 1 of the finest grid
  tell(18, -0.5F, 0.5F, 0.5, 1);  // column 0 and row 1 of the second
  tell(20, 0.5F, 0.5F, 1, 0.25);  // the last
  const auto boxes = numbers(decoded({{"out", rows}}, {{"layout", "rows"}, {"grid", 32}}), "boxes");
  const auto expect = [&](int prediction, std::vector<float> box) {
    for (int c = 0; c < 4; ++c) {
      CHECK(boxes[std::size_t(4 * prediction + c)] == Approx(box[std::size_t(c)]));
    }
  };
  expect(6, {16, 2, 24, 18});     // centre (20, 10), 8 x 16
  expect(18, {-12, 16, -4, 32});  // centre (-8, 24), 8 x 16
  expect(20, {0, 12, 32, 20});    // centre (16, 16), 32 x 8
}

TEST_CASE("predictions that are no boxes are refused with what was expected") {
  CHECK_THROWS_WITH(decoded({{"out", Tensor::zeros(DType::float32, {4, 9})}}, {}),
                    Catch::Contains("yolo_boxes: gets") && Catch::Contains("5 or more x N"));
  CHECK_THROWS_WITH(decoded({{"out", Tensor::zeros(DType::float32, {9, 6})}},
                            {{"layout", "rows"}, {"objectness", true}, {"classes", 2}}),
                    Catch::Contains("N x 7 or more: a box, an objectness and 2 scores"));
  CHECK_THROWS_AS(decoded({{"out", Tensor::zeros(DType::float32, {6})}}, {}), ShapeError);
  CHECK_THROWS_WITH(decoded({{"out", columns()}}, {{"grid", 32}}),
                    Catch::Contains("2 predictions, expected 21"));
}

}  // namespace
}  // namespace d5
