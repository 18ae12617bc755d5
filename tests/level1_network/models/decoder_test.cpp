// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level1_network/plan/planned_updates.hpp"
#include "d5/level1_network/source/models.hpp"

using namespace d5;

namespace {

using Tokens = std::vector<std::int64_t>;

constexpr std::int64_t kVocabulary = 50, kCapacity = 16;

Network small_decoder(std::int64_t slots, bool training = false) {
  return models().at("decoder").make({{"layers", 2},
                                      {"width", 24},
                                      {"heads", 6},
                                      {"kv_heads", 2},
                                      {"hidden", 40},
                                      {"vocabulary", kVocabulary},
                                      {"capacity", kCapacity},
                                      {"slots", slots},
                                      {"training", training},
                                      {"seed", 5}});
}

/// Text t of a run: tokens[t] from row starts[t] of its cache on, with scores after each.
ValueMap run_of(const std::vector<Tokens>& tokens, const Tokens& starts) {
  const auto slots = std::int64_t(tokens.size()), count = std::int64_t(tokens.front().size());
  Tensor ids = Tensor::empty(DType::int64, {slots, count});
  Tensor places = Tensor::empty(DType::int64, {slots, count, 1});
  auto* id = ids.data<std::int64_t>();
  auto* place = places.data<std::int64_t>();
  for (const Tokens& text : tokens) {
    id = std::ranges::copy(text, id).out;
    for (std::int64_t t = 0; t < count; ++t) *place++ = t;
  }
  return {{"tokens", ids}, {"starts", Tensor::vector(starts)}, {"places", places}};
}

using Scores = std::vector<float>;

/// Scores of text `slot` after token `place`.
Scores scores_of(const ValueMap& outputs, std::int64_t slot, std::int64_t place) {
  const Tensor& logits = outputs.at("logits").tensor();
  const auto all = logits.span<float>();
  const auto at = (slot * logits.shape()[1] + place) * kVocabulary;
  return {all.begin() + at, all.begin() + at + kVocabulary};
}

/// Sums of up to 40 products in another order differ by some units of the last place of the
/// largest score; the scores are of the order of 1.
void check_close(const Scores& got, const Scores& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(std::abs(got[i] - expected[i]) < 2e-6F);
}

const Tokens kText{7, 3, 49, 0, 12, 12, 30, 8, 21};

}  // namespace

TEST_CASE("token by token a decoder scores as in one prefill") {
  const auto prefill = make_executor(small_decoder(1));
  const auto stepwise = make_executor(small_decoder(1));
  const ValueMap& whole = prefill->inference(run_of({kText}, {0}));
  for (std::size_t t = 0; t < kText.size(); ++t) {
    const auto at = std::int64_t(t);
    check_close(scores_of(stepwise->inference(run_of({{kText[t]}}, {at})), 0, 0),
                scores_of(whole, 0, at));
  }
}

TEST_CASE("in training a decoder scores whole texts as in one prefill") {
  const ValueMap given = run_of({kText, Tokens(kText.rbegin(), kText.rend())}, {0, 0});
  const auto prefill = make_executor(small_decoder(2));
  const auto training = make_executor(small_decoder(1, true));
  const ValueMap& expected = prefill->inference(given);
  const ValueMap& scores = training->inference({{"tokens", given.at("tokens").tensor()}});
  for (std::size_t t = 0; t < kText.size(); ++t) {
    for (const std::int64_t text : {0, 1}) {
      check_close(scores_of(scores, text, std::int64_t(t)),
                  scores_of(expected, text, std::int64_t(t)));
    }
  }
}

TEST_CASE("in pieces, too, and after a step back") {
  const auto prefill = make_executor(small_decoder(1));
  const auto pieces = make_executor(small_decoder(1));
  const ValueMap& whole = prefill->inference(run_of({kText}, {0}));
  (void)pieces->inference(run_of({{7, 3, 49, 1}}, {0}));  // the last is to be overwritten
  const ValueMap& rest = pieces->inference(run_of({{0, 12, 12, 30, 8, 21}}, {3}));
  for (std::int64_t t = 0; t < 6; ++t) {
    check_close(scores_of(rest, 0, t), scores_of(whole, 0, t + 3));
  }
}

TEST_CASE("texts of different lengths in one run score as each alone") {
  const auto together = make_executor(small_decoder(3));
  // Text 0 is whole, text 1 two tokens behind, text 2 idle at the start.
  (void)together->inference(run_of({{7, 3, 49}, {5, 6, 6}, {0, 0, 0}}, {0, 0, 0}));
  const ValueMap& outputs = together->inference(run_of({{0, 12}, {9, 2}, {4, 4}}, {3, 1, 0}));
  const std::vector<Tokens> texts{{7, 3, 49, 0, 12}, {5, 9, 2}, {4, 4}};
  for (std::int64_t slot = 0; slot < 3; ++slot) {
    const Tokens& text = texts[std::size_t(slot)];
    const auto alone = make_executor(small_decoder(1));
    const ValueMap& expected = alone->inference(run_of({text}, {0}));
    for (std::int64_t back = 0; back < 2; ++back) {
      check_close(scores_of(outputs, slot, 1 - back),
                  scores_of(expected, 0, std::int64_t(text.size()) - 1 - back));
    }
  }
}

TEST_CASE("every cache of a decoder is updated in place: a step copies no byte") {
  const auto executor = make_executor(small_decoder(2));
  const auto copied = make_executor(small_decoder(2), {}, UpdatePlace::copied);
  for (std::int64_t t = 0; t < 3; ++t) {
    const ValueMap inputs = run_of({{t}, {t + 7}}, {t, t});
    const Scores expected = scores_of(copied->inference(inputs), 1, 0);
    CHECK(scores_of(executor->inference(inputs), 1, 0) == expected);
  }
  const auto updates = planned_updates(*executor);
  CHECK(updates.size() == 4);
  for (const PlannedUpdate& update : updates) {
    INFO(update.constant << ": " << update.reason);
    CHECK(update.copied_bytes == 0);
  }
  // 2 slots of 16 rows of 2 heads of 4 elements.
  for (const PlannedUpdate& update : planned_updates(*copied)) {
    CHECK(update.copied_bytes == 2 * 16 * 8 * sizeof(float));
  }
}

TEST_CASE("only the tokens asked for are scored") {
  const auto executor = make_executor(small_decoder(1));
  ValueMap inputs = run_of({kText}, {0});
  const Scores last = scores_of(executor->inference(inputs), 0, 8);
  inputs.at("places") = Tensor::of<std::int64_t>({1, 1, 1}, {8});
  const ValueMap& outputs = executor->inference(inputs);
  CHECK(outputs.at("logits").tensor().shape() == Shape{1, 1, kVocabulary});
  check_close(scores_of(outputs, 0, 0), last);
}

TEST_CASE("a token beyond the capacity is refused") {
  const auto executor = make_executor(small_decoder(1));
  CHECK_THROWS_AS(executor->inference(run_of({{1, 2}}, {kCapacity - 1})), ValueError);
}

TEST_CASE("sizes that fit no decoder are refused") {
  CHECK_THROWS_WITH(models().at("decoder").make({{"heads", 7}}),
                    Catch::Contains("256") && Catch::Contains("7"));
  CHECK_THROWS_WITH(models().at("decoder").make({{"kv_heads", 3}}),
                    Catch::Contains("8") && Catch::Contains("3"));
}
