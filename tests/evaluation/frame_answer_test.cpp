// SPDX-License-Identifier: Apache-2.0
// Decisions frame by frame and texts, and how they are judged; numbers by hand.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/accuracy/accuracy_measure.hpp"
#include "d5/evaluation/pipeline/answer_step.hpp"

namespace d5 {
namespace {

using Integers = std::vector<std::int64_t>;

ValueMap active(const Integers& values) { return {{"active", Tensor::vector(values)}}; }
ValueMap text(const std::string& words) { return {{"text", Tensor::scalar(words)}}; }

double value_of(const AccuracyMeasure& measure) { return estimate(measure.record()).value; }

TEST_CASE("a threshold decides for each score, and NaN is no score") {
  ValueMap values{{"p", Tensor::of<float>({4, 1}, {0.5F, 0.49F, 0.9F, std::nanf("")})}};
  answer_steps().at("threshold").make()->run(values);
  const Tensor& decisions = values.at("active").tensor();
  CHECK(decisions.shape() == Shape{4});
  CHECK(Integers(decisions.data<std::int64_t>(), decisions.data<std::int64_t>() + 4) ==
        Integers{1, 0, 1, 0});
  answer_steps()
      .at("threshold")
      .make({{"of", "p"}, {"to", "sure"}, {"threshold", 0.6}})
      ->run(values);
  CHECK(values.at("sure").tensor().data<std::int64_t>()[0] == 0);
  CHECK(values.at("sure").tensor().data<std::int64_t>()[2] == 1);
  CHECK_THROWS_AS(answer_steps().at("threshold").make({{"of", "q"}})->run(values), NotFound);
}

TEST_CASE("F1 counts the frames of all samples together") {
  const auto f1 = accuracy_measures().at("frame_f1").make();
  // 2 in both, 1 only in the answer, 1 only in the truth: 4 / 6.
  CHECK(f1->judge(active({1, 1, 1, 0, 0}), active({1, 1, 0, 1, 0})) == Approx(4.0 / 6));
  CHECK(f1->judge(active({0, 0}), active({0, 0})) == 1);
  CHECK(value_of(*f1) == Approx(4.0 / 6));
  f1->miss(active({1, 0, 1}));  // two more that were not found
  CHECK(value_of(*f1) == Approx(4.0 / 8));
  CHECK_THROWS_WITH(f1->judge(active({1}), active({1, 1})), Catch::Contains("1 frames"));
  CHECK_THROWS_AS(f1->judge({}, active({1})), NotFound);
  CHECK(std::isnan(value_of(*accuracy_measures().at("frame_f1").make())));
}

/// Scores of steps whose best classes these are.
ValueMap path(const Integers& best, std::int64_t classes) {
  Tensor scores = Tensor::zeros(DType::float32, {std::int64_t(best.size()), classes});
  for (std::size_t step = 0; step < best.size(); ++step) {
    scores.data<float>()[std::int64_t(step) * classes + best[step]] = 0.5F;
  }
  return {{"scores", scores}};
}

std::string decoded(ValueMap values, const Settings& settings) {
  answer_steps().at("ctc").make(settings)->run(values);
  return values.at("text").tensor().item<std::string>();
}

TEST_CASE("the best path without repeats and blanks is the text") {
  const Settings settings{{"alphabet", "ab"}};
  CHECK(decoded(path({0, 1, 1, 0, 1, 2, 2, 0}, 3), settings) == "aab");
  CHECK(decoded(path({0, 0}, 3), settings).empty());
  CHECK(decoded(path({}, 3), settings).empty());
  // The blank is another class: the characters are those of the others.
  CHECK(decoded(path({0, 0, 1, 0, 2}, 3), {{"alphabet", "ab"}, {"blank", 1}}) == "aab");
  CHECK(decoded(path({2, 0, 2, 1}, 3), {{"alphabet", "ab"}, {"blank", -1}}) == "ab");
  CHECK(decoded(path({1, 2, 1}, 3), {{"alphabet", "x"}, {"space", true}}) == "x x");
  // Characters of several bytes, and lines of several characters.
  CHECK(decoded(path({1, 2}, 3), {{"alphabet", "\xc3\xa4\xe7\x96\x97"}}) == "\xc3\xa4\xe7\x96\x97");
  CHECK(decoded(path({1, 2, 3}, 4), {{"alphabet", "th\nq\n'\n"}}) == "thq'");
  CHECK(decoded(path({1, 2, 3}, 4), {{"alphabet", "th\r\nq\r\n'"}}) == "thq'");
  // An alphabet with a line for the blank, which may be empty.
  CHECK(decoded(path({1, 0, 2}, 3), {{"alphabet", "\na\nb\n"}, {"lists_blank", true}}) == "ab");
  CHECK(decoded(path({0, 2, 1}, 3),
                {{"alphabet", "a\nb\nblank\n"}, {"lists_blank", true}, {"blank", -1}}) == "ab");
  CHECK(decoded(path({0, 1, 2}, 3), {{"alphabet", "a-b"}, {"lists_blank", true}, {"blank", 1}}) ==
        "ab");
  ValueMap values = path({1, 0, 2}, 3);
  values["scores"].tensor().data<float>()[1] = 1;
  answer_steps().at("ctc").make(settings)->run(values);
  CHECK(values.at("score").tensor().item<float>() == 0.75F);
  CHECK_THROWS_WITH(decoded(path({1}, 4), settings), Catch::Contains("steps x 3"));
  CHECK_THROWS_AS(decoded({{"scores", Tensor::zeros(DType::float32, {3})}}, settings), ShapeError);
}

TEST_CASE("character accuracy is one minus the edits over the right characters") {
  const auto measure = accuracy_measures().at("character_accuracy").make();
  CHECK(measure->judge(text("kitten"), text("sitting")) == Approx(1 - 3.0 / 7));
  CHECK(measure->judge(text("\xc3\xa4"
                            "b"),
                       text("ab")) == Approx(0.5));  // one character, two bytes
  CHECK(measure->judge(text("much too long"), text("m")) == 0);
  CHECK(value_of(*measure) == 0);  // 16 edits, 10 characters
  const auto other = accuracy_measures().at("character_accuracy").make();
  (void)other->judge(text("abcd"), text("abcd"));
  other->miss(text("xy"));
  CHECK(value_of(*other) == Approx(1 - 2.0 / 6));
  CHECK(other->judge(text(""), text("")) == 1);
  CHECK(other->judge(text("a"), text("")) == 0);
  CHECK_THROWS_AS(other->judge(active({1}), text("a")), NotFound);
  CHECK_THROWS_WITH(other->judge({{"text", Tensor::scalar(1.0F)}}, text("a")),
                    Catch::Contains("expected one text"));
}

TEST_CASE("a text is exact to the last byte") {
  const auto measure = accuracy_measures().at("exact_text").make();
  CHECK(measure->judge(text("ab"), text("ab")) == 1);
  CHECK(measure->judge(text("ab "), text("ab")) == 0);
  measure->miss(text("ab"));
  CHECK(value_of(*measure) == Approx(1.0 / 3));
}

TEST_CASE("regions of a map are boxes, grown by their area over their perimeter") {
  // Two regions: 5 x 4 pixels at (2, 1), and 4 x 4 at (9, 3), which touch nowhere.
  Tensor map = Tensor::zeros(DType::float32, {1, 8, 14});
  const auto fill = [&](int left, int top, int right, int bottom, float value) {
    for (int y = top; y <= bottom; ++y) {
      for (int x = left; x <= right; ++x) map.data<float>()[y * 14 + x] = value;
    }
  };
  fill(2, 1, 6, 4, 0.9F);
  fill(9, 3, 12, 6, 0.6F);
  fill(0, 7, 0, 7, 1);  // too small
  const auto boxes_of = [&](const Settings& settings) {
    ValueMap values{{"map", map}};
    answer_steps().at("map_boxes").make(settings)->run(values);
    CHECK(!values.contains("map"));
    const auto corners = values.at("boxes").tensor().span<float>();
    return std::vector<float>(corners.begin(), corners.end());
  };
  const Settings plain{{"dilate", false}, {"growth", 0}};
  CHECK(boxes_of(plain) == std::vector<float>{2, 1, 6, 4, 9, 3, 12, 6});
  // 4 x 3 grows by 1.6 * 12 / 14 = 1.37; 3 x 3 by 1.6 * 9 / 12 = 1.2; both are cut at the border.
  CHECK(boxes_of({{"dilate", false}}) == std::vector<float>{1, 0, 7, 5, 8, 2, 13, 7});
  CHECK(boxes_of({{"dilate", true}, {"growth", 0}, {"least_score", 0.3}}) ==
        std::vector<float>{2, 1, 7, 5, 9, 3, 13, 7});
  CHECK(boxes_of({{"dilate", false}, {"growth", 0}, {"least_score", 0.7}}) ==
        std::vector<float>{2, 1, 6, 4});
  fill(7, 2, 8, 2, 0.9F);  // a bridge joins them
  CHECK(boxes_of({{"dilate", false}, {"growth", 0}, {"least_score", 0}}).size() == 4);
  ValueMap wrong{{"map", Tensor::zeros(DType::float32, {3, 8, 14})}};
  CHECK_THROWS_AS(answer_steps().at("map_boxes").make()->run(wrong), ShapeError);
}

}  // namespace
}  // namespace d5
