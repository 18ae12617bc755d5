// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/accuracy/accuracy_measure.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/accuracy/answer_comparison.hpp"
#include "d5/evaluation/pipeline/answer_step.hpp"

namespace d5 {
namespace {

using Integers = std::vector<std::int64_t>;
using Floats = std::vector<float>;

ValueMap classes(const Integers& values) { return {{"classes", Tensor::vector(values)}}; }
ValueMap label(std::int64_t value) { return {{"label", Tensor::scalar(value)}}; }
ValueMap mask(const Integers& values) { return {{"mask", Tensor::vector(values)}}; }

TEST_CASE("top-1 asks for the first class, top-5 for the first five") {
  const auto top1 = accuracy_measures().at("top1").make();
  const auto top5 = accuracy_measures().at("top5").make();
  const ValueMap answer = classes({7, 3, 1, 0, 9});
  CHECK(top1->judge(answer, label(7)) == 1);
  CHECK(top1->judge(answer, label(3)) == 0);
  CHECK(top5->judge(answer, label(9)) == 1);
  CHECK(top5->judge(answer, label(2)) == 0);
  top1->miss({});
  CHECK(top1->record().samples == std::vector<double>{1, 0, 0});
  CHECK(estimate(top1->record()).value == Approx(1.0 / 3));
  CHECK_THROWS_AS(top5->judge(classes({1, 2, 3}), label(1)), ShapeError);
  CHECK_THROWS_AS(top1->judge({}, label(1)), NotFound);
  CHECK_THROWS_AS(top1->judge(answer, {}), NotFound);
}

TEST_CASE("a share's interval is that of Clopper and Pearson") {
  // 180 of 200: scipy.stats.beta.ppf(0.025, 180, 21) and beta.ppf(0.975, 181, 20).
  const auto top1 = accuracy_measures().at("top1").make();
  for (int i = 0; i < 200; ++i) (void)top1->judge(classes({i < 180 ? 1 : 0}), label(1));
  const Estimate share = estimate(top1->record());
  CHECK(share.value == Approx(0.9));
  CHECK(share.interval.low == Approx(0.8497872).epsilon(1e-4));
  CHECK(share.interval.high == Approx(0.9378406).epsilon(1e-4));
}

TEST_CASE("the mean intersection over union is that of all samples' pixels") {
  const auto measure = accuracy_measures().at("mean_iou").make();
  // Class 0: 1 of 2 pixels that either gives; class 1: 2 of 3.
  CHECK(measure->judge(mask({0, 1, 1, 1}), mask({0, 0, 1, 1})) == Approx((1.0 / 2 + 2.0 / 3) / 2));
  // Ignored pixels (255) do not count. Class 1 once more: together 3 of 4.
  CHECK(measure->judge(mask({1, 0}), mask({1, 255})) == 1);
  CHECK(measure->record().samples.at(0) == Approx((1.0 / 2 + 3.0 / 4) / 2));
  // A sample without an answer: all its pixels count as wrong.
  measure->miss(mask({1, 1, 1, 1}));
  CHECK(measure->record().samples.at(0) == Approx((1.0 / 2 + 3.0 / 8) / 2));
  CHECK_THROWS_AS(measure->judge(mask({1}), mask({1, 1})), ShapeError);
}

ValueMap boxes(const Floats& corners, const Integers& of, const Floats& scores) {
  const auto count = static_cast<std::int64_t>(of.size());
  return {{"boxes", Tensor::of<float>({count, 4}, std::span<const float>(corners))},
          {"classes", Tensor::vector(of)},
          {"scores", Tensor::vector(scores)}};
}

TEST_CASE("average precision is the area below the falling precision") {
  const auto measure = accuracy_measures().at("average_precision").make();
  // Two right boxes. By score: a hit, a miss, a hit: precision 1, 1/2, 2/3 at recall 1/2, 1/2, 1.
  const ValueMap right = boxes({0, 0, 10, 10, 20, 20, 30, 30}, {0, 0}, {1, 1});
  const ValueMap answer =
      boxes({0, 0, 10, 10, 50, 50, 60, 60, 20, 20, 30, 30}, {0, 0, 0}, {0.9F, 0.8F, 0.7F});
  CHECK(measure->judge(answer, right) == Approx(0.5 * 1 + 0.5 * 2 / 3));
  CHECK(measure->record().samples.at(0) == Approx(0.5 * 1 + 0.5 * 2 / 3));
}

TEST_CASE("a right box is found once, by enough overlap, and by its class alone") {
  const auto one = [](const ValueMap& answer, const ValueMap& right) {
    return accuracy_measures().at("average_precision").make()->judge(answer, right);
  };
  const ValueMap right = boxes({0, 0, 10, 10}, {0}, {1});
  CHECK(one(boxes({0, 0, 10, 10, 0, 0, 10, 10}, {0, 0}, {0.5F, 0.9F}), right) == 1);
  CHECK(one(boxes({0, 0, 10, 10}, {1}, {0.9F}), right) == 0);
  CHECK(one(boxes({0, 0, 10, 5}, {0}, {0.9F}), right) == 1);     // overlap 1/2
  CHECK(one(boxes({0, 0, 10, 4.9F}, {0}, {0.9F}), right) == 0);  // less
  CHECK(one(boxes({}, {}, {}), right) == 0);
}

TEST_CASE("two classes count alike, however many boxes they have") {
  const auto measure = accuracy_measures().at("average_precision").make();
  const ValueMap right = boxes({0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5}, {0, 0, 1}, {1, 1, 1});
  (void)measure->judge(boxes({4, 4, 5, 5}, {1}, {1}), right);
  CHECK(measure->record().samples.at(0) == 0.5);
}

TEST_CASE("an accuracy that is one number has an interval of samples drawn again") {
  const auto measure = accuracy_measures().at("mean_iou").make();
  for (int i = 0; i < 40; ++i) (void)measure->judge(mask({i % 2}), mask({1}));
  const auto [value, interval, confidence] = estimate(measure->record());
  CHECK(value == measure->record().samples.at(0));
  CHECK(confidence == 0.95);
  CHECK(interval.low < value);
  CHECK(interval.high > value);
}

SampleAnswer answered(std::int64_t sample, double score) {
  return {.sample = sample, .answer = score > 0 ? "yes" : "no", .score = score};
}

TEST_CASE("two runs are compared sample by sample") {
  // 9 flips for a, 1 for b: scipy.stats.binomtest(1, 10) gives p = 0.021484375.
  std::vector<SampleAnswer> a, b;
  for (int i = 0; i < 20; ++i) {
    a.push_back(answered(i, i < 9 || i >= 15 ? 1 : 0));
    b.push_back(answered(i, i == 9 || i >= 15 ? 1 : 0));
  }
  const auto comparison = compare_answers(a, b);
  CHECK(comparison.samples == 20);
  CHECK(comparison.both == 5);
  CHECK(comparison.only_a == 9);
  CHECK(comparison.only_b == 1);
  CHECK(comparison.neither == 5);
  CHECK(comparison.same_answers == 10);
  CHECK(comparison.p_value == Approx(0.021484375));
  REQUIRE(comparison.flips.size() == 10);
  CHECK(comparison.flips[9].sample == 9);
  CHECK(compare_answers(a, a).p_value == 1);
  CHECK(compare_answers(a, {}).samples == 0);
}

TEST_CASE("answer steps make of outputs what people ask for") {
  ValueMap values{{"logits", Tensor::vector(Floats{1, 3, 2, 3})}};
  answer_steps().at("softmax").make()->run(values);
  const float* p = values.at("logits").tensor().data<float>();
  // numpy: exp(x) / exp(x).sum()
  CHECK(p[0] == Approx(0.05406459).epsilon(1e-5));
  CHECK(p[1] == Approx(0.3994863).epsilon(1e-5));
  answer_steps().at("top_k").make({{"k", 3}})->run(values);
  const auto* best = values.at("classes").tensor().data<std::int64_t>();
  CHECK(Integers(best, best + 3) == Integers{1, 3, 2});  // equal scores: the lower class first
  CHECK_THROWS_AS(answer_steps().at("top_k").make({{"k", 3}})->run(values), NotFound);

  ValueMap background{{"s", Tensor::vector(Floats{9, 1, 2})}};
  answer_steps().at("top_k").make({{"k", 1}, {"first", 1}})->run(background);
  CHECK(background.at("classes").tensor().item<std::int64_t>() == 1);

  ValueMap nan{{"s", Tensor::vector(Floats{1, NAN})}};
  CHECK_THROWS_AS(answer_steps().at("top_k").make({{"k", 1}})->run(nan), NumericError);
  ValueMap few{{"s", Tensor::vector(Floats{1})}};
  CHECK_THROWS_AS(answer_steps().at("top_k").make({{"k", 2}})->run(few), ShapeError);

  ValueMap masks{{"s", Tensor::of<float>({2, 2}, {1, 5, 1, 6})}};
  answer_steps().at("argmax").make()->run(masks);
  const auto* m = masks.at("mask").tensor().data<std::int64_t>();
  CHECK(Integers(m, m + 2) == Integers{0, 1});
}

TEST_CASE("the best of each class stays of boxes that cover each other") {
  // The first two overlap by 81 / 119, the third is elsewhere; the fourth is too weak.
  ValueMap values{
      {"boxes", Tensor::of<float>({4, 4}, {0, 0, 10, 10, 1, 1, 11, 11, 20, 20, 30, 30,  //
                                           50, 50, 60, 60})},
      {"scores", Tensor::vector(Floats{0.8F, 0.9F, 0.7F, 0.1F})}};
  ValueMap loose = values, two = values;
  answer_steps().at("boxes").make()->run(values);
  CHECK(values.at("boxes").tensor().shape() == Shape({2, 4}));
  CHECK(values.at("boxes").tensor().data<float>()[0] == 1);
  CHECK(values.at("scores").tensor().data<float>()[1] == 0.7F);
  answer_steps().at("boxes").make({{"overlap", 0.7}})->run(loose);
  CHECK(loose.at("boxes").tensor().shape() == Shape({3, 4}));
  two["scores"] = Tensor::of<float>({4, 2}, {0.8F, 0, 0, 0.9F, 0.7F, 0, 0, 0});
  answer_steps().at("boxes").make()->run(two);  // other classes do not cover each other
  CHECK(two.at("classes").tensor().elements() == 3);
  ValueMap centre{{"boxes", Tensor::of<float>({1, 4}, {5, 6, 2, 4})},
                  {"scores", Tensor::vector(Floats{1})}};
  answer_steps().at("boxes").make({{"form", "centre"}})->run(centre);
  const float* corners = centre.at("boxes").tensor().data<float>();
  CHECK(Floats(corners, corners + 4) == Floats{4, 4, 6, 8});
  ValueMap none{{"boxes", Tensor::zeros(DType::float32, {0, 4})},
                {"scores", Tensor::zeros(DType::float32, {0})}};
  answer_steps().at("boxes").make()->run(none);
  CHECK(none.at("boxes").tensor().shape() == Shape({0, 4}));
  ValueMap odd{{"boxes", Tensor::vector(Floats{1, 2, 3})}, {"scores", Tensor::vector(Floats{1})}};
  CHECK_THROWS_AS(answer_steps().at("boxes").make()->run(odd), ShapeError);
}

}  // namespace
}  // namespace d5
