// SPDX-License-Identifier: Apache-2.0
// Caches as state in a session, in place: step by step as in the reference.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/plan/planned_updates.hpp"
#include "d5/level1_network/source/models.hpp"
#include "tests/level1_network/grouped_cache.hpp"

using namespace d5;

namespace {

Network decoder_of_two_slots() {
  return models().at("decoder").make({{"layers", 2},
                                      {"width", 32},
                                      {"heads", 4},
                                      {"kv_heads", 2},
                                      {"hidden", 48},
                                      {"vocabulary", 60},
                                      {"capacity", 12},
                                      {"slots", 2}});
}

/// `count` tokens of each slot, from these rows of its cache on.
ValueMap tokens_of_slots(std::int64_t count, std::int64_t first, std::int64_t second) {
  Tensor tokens = Tensor::empty(DType::int64, {2, count});
  std::int64_t next = first + 7 * second;
  for (std::int64_t& token : tokens.span<std::int64_t>()) token = ++next % 60;
  return {{"tokens", tokens},
          {"starts", Tensor::vector<std::int64_t>({first, second})},
          {"places", Tensor::of<std::int64_t>({2, 1, 1}, {count - 1, 0})}};
}

}  // namespace

TEST_CASE("a session decodes as the reference does, and copies no byte of the caches") {
  const auto session = open_executor("onnxruntime:session", decoder_of_two_slots());
  const auto reference = make_executor(decoder_of_two_slots());
  for (const ValueMap& inputs :
       {tokens_of_slots(4, 0, 0), tokens_of_slots(1, 4, 2), tokens_of_slots(1, 5, 3),
        tokens_of_slots(4, 6, 1), tokens_of_slots(1, 10, 5)}) {
    const Tensor got = session->inference(inputs).at("logits").tensor();
    const Tensor expected = reference->inference(inputs).at("logits").tensor();
    REQUIRE(got.shape() == expected.shape());
    for (std::size_t i = 0; i < std::size_t(got.elements()); ++i) {
      // Scores are of the order of 0.1; sums of 48 products differ by some 1e-8.
      CHECK(std::abs(got.span<float>()[i] - expected.span<float>()[i]) < 1e-6F);
    }
  }
  const auto updates = planned_updates(*session);
  CHECK(updates.size() == 4);
  for (const PlannedUpdate& update : updates) {
    INFO(update.constant << ": " << update.reason);
    CHECK(update.copied_bytes == 0);
  }
}

TEST_CASE(
    "a session updates caches of GroupQueryAttention in place, as the reference copies them") {
  const auto session = open_executor("onnxruntime:session", test::grouped_cache(2));
  const auto reference = make_executor(test::grouped_cache(2), {}, UpdatePlace::copied);
  for (const ValueMap& inputs :
       {test::grouped_step({1, 1}, 1, 0.3F), test::grouped_step({2, 2}, 1, 0.6F),
        test::grouped_step({3, 2}, 1, 0.2F), test::grouped_step({6, 3}, 1, 0.7F)}) {
    const Tensor got = session->inference(inputs).at("y").tensor();
    const Tensor expected = reference->inference(inputs).at("y").tensor();
    REQUIRE(got.shape() == expected.shape());
    for (std::size_t i = 0; i < std::size_t(got.elements()); ++i) {
      // Means of numbers below 1, over scores of 16 products.
      CHECK(std::abs(got.span<float>()[i] - expected.span<float>()[i]) < 1e-6F);
    }
    for (const char* cache : {"past_key", "past_value"}) {
      CHECK(std::ranges::equal(session->network().fetch(cache).span<float>(),
                               reference->network().fetch(cache).span<float>()));
    }
  }
  const auto updates = planned_updates(*session);
  CHECK(updates.size() == 2);
  for (const PlannedUpdate& update : updates) {
    INFO(update.constant << ": " << update.reason);
    CHECK(update.copied_bytes == 0);
  }
}
