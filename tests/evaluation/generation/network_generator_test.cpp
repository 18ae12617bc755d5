// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/generation/network_generator.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/core/machine/thread_share.hpp"
#include "d5/level1_network/plan/planned_updates.hpp"
#include "tests/evaluation/generation/vivid_decoder.hpp"

using namespace d5;
using test::answers_of;
using test::generator_of;
using test::kPrompts;
using test::Tokens;
using test::vivid_decoder;

namespace {

/// Greedy tokens without a cache: all of the text goes through the network for each token.
Tokens without_cache(Tokens text, std::int64_t count) {
  const std::size_t prompt = text.size();
  for (std::int64_t i = 0; i < count; ++i) {
    const auto executor = make_executor(vivid_decoder(1));
    Tensor tokens = Tensor::empty(DType::int64, {1, std::int64_t(text.size())});
    std::ranges::copy(text, tokens.data<std::int64_t>());
    const ValueMap& outputs = executor->inference(
        {{"tokens", tokens},
         {"starts", Tensor::vector<std::int64_t>({0})},
         {"places", Tensor::of<std::int64_t>({1, 1, 1}, {std::int64_t(text.size()) - 1})}});
    const auto scores = outputs.at("logits").tensor().span<float>();
    text.push_back(std::ranges::max_element(scores) - scores.begin());
  }
  return {text.begin() + std::ptrdiff_t(prompt), text.end()};
}

}  // namespace

TEST_CASE("with a cache tokens are those of the network without one") {
  for (const Tokens& prompt : kPrompts) {
    auto generator = generator_of(vivid_decoder(1));
    CHECK(answers_of(generator, {prompt}, {.most_tokens = 12}).front() ==
          without_cache(prompt, 12));
  }
}

TEST_CASE("texts side by side get the tokens that each gets alone, greedy and drawn") {
  const double temperature = GENERATE(0.0, 0.9);
  const Sampling sampling{.temperature = temperature, .top_k = 40, .seed = 5};
  auto together = generator_of(vivid_decoder(3));
  const auto answers = answers_of(together, kPrompts, {.most_tokens = 20}, sampling);
  for (std::size_t i = 0; i < kPrompts.size(); ++i) {
    auto generator = generator_of(vivid_decoder(1), 4);
    const std::size_t slot = generator.admit(
        kPrompts[i], {.most_tokens = 20},
        {.temperature = temperature, .top_k = 40, .seed = 5, .request = std::uint32_t(i)});
    Tokens alone;
    while (generator.active() > 0) {
      for (const GeneratedToken& next : generator.step()) alone.push_back(next.token);
    }
    generator.release(slot);
    CHECK(alone == answers[i]);
    CHECK(alone.size() == 20);
  }
}

TEST_CASE("the number of threads changes no token") {
  const auto run = [](int threads) {
    const ThreadShare share(threads);
    auto generator = generator_of(vivid_decoder(3));
    return answers_of(generator, kPrompts, {.most_tokens = 10}, {.temperature = 1, .seed = 1});
  };
  CHECK(run(1) == run(2));
}

TEST_CASE("a text joins while others go on, and its long prompt does not hold them up") {
  auto generator = generator_of(vivid_decoder(2));
  const std::size_t first = generator.admit(kPrompts[1], {.most_tokens = 30}, {});
  Tokens of_first, of_second;
  for (int i = 0; i < 3; ++i) of_first.push_back(generator.step().front().token);
  const std::size_t second = generator.admit(kPrompts[2], {.most_tokens = 5}, {});
  CHECK(second != first);
  int steps_without_second = 0;
  while (of_second.empty()) {
    const auto& tokens = generator.step();
    REQUIRE(std::ranges::count(tokens, first, &GeneratedToken::slot) == 1);
    for (const auto& next : tokens) {
      (next.slot == first ? of_first : of_second).push_back(next.token);
    }
    steps_without_second += of_second.empty() ? 1 : 0;
  }
  CHECK(steps_without_second == 2);  // 21 tokens in pieces of 8
  while (generator.active() > 0) {
    for (const auto& next : generator.step()) {
      (next.slot == first ? of_first : of_second).push_back(next.token);
    }
  }
  CHECK(of_first == without_cache(kPrompts[1], 30));
  CHECK(of_second == without_cache(kPrompts[2], 5));
  // A slot is as good as new for the next text.
  generator.release(first);
  CHECK(answers_of(generator, {kPrompts[0]}, {.most_tokens = 4}).front() ==
        without_cache(kPrompts[0], 4));
}

TEST_CASE("after a rewind the same tokens come again, and others with another prefix") {
  auto generator = generator_of(vivid_decoder(2));
  const std::size_t slot = generator.admit(kPrompts[0], {.most_tokens = 12}, {});
  Tokens before, after;
  while (generator.active() > 0) before.push_back(generator.step().front().token);
  generator.rewind(slot, 5);
  CHECK(generator.active() == 1);
  while (generator.active() > 0) after.push_back(generator.step().front().token);
  CHECK(after == Tokens(before.end() - 5, before.end()));
  generator.rewind(slot, 12);
  CHECK(generator.step().front().token == before.front());
  CHECK_THROWS_AS(generator.rewind(slot, 2), ValueError);
  CHECK_THROWS_AS(generator.rewind(1 - slot, 0), NotFound);
}

TEST_CASE("an answer ends where its limits say") {
  const auto tokenizer = tokenizers().at("bytes").make({});
  NetworkGenerator generator(make_executor(vivid_decoder(1)), tokenizer, {.piece = 8});
  const Tokens free = answers_of(generator, {kPrompts[0]}, {.most_tokens = 20}).front();
  const auto run = [&](const GenerationLimits& limits) {
    const std::size_t slot = generator.admit(kPrompts[0], limits, {});
    Tokens answer;
    std::optional<AnswerEnd> end;
    while (generator.active() > 0) {
      for (const auto& next : generator.step()) answer.push_back(next.token), end = next.end;
    }
    generator.release(slot);
    return std::pair(answer, end.value());
  };
  const auto first = [&](std::ptrdiff_t count) {
    return Tokens(free.begin(), free.begin() + count);
  };
  CHECK(run({.most_tokens = 20}) == std::pair(free, AnswerEnd::most_tokens));
  // A token that is not before itself in the answer.
  std::ptrdiff_t at = 3;
  while (std::ranges::count(first(at + 1), free[std::size_t(at)]) > 1) ++at;
  const TokenId stop = free[std::size_t(at)];
  CHECK(run({.most_tokens = 20, .stop_tokens = {stop}}) ==
        std::pair(first(at + 1), AnswerEnd::stop_token));
  const std::string text = tokenizer->decode(first(at + 1)).substr(std::size_t(at) - 2);
  const auto [answer, end] = run({.most_tokens = 20, .stop_texts = {"no such text", text}});
  CHECK(answer == first(at + 1));
  CHECK(end == AnswerEnd::stop_text);
  // Until the least number of tokens a stop token is not chosen.
  const auto longer = run({.most_tokens = 20, .least_tokens = at + 4, .stop_tokens = {stop}}).first;
  CHECK(std::int64_t(longer.size()) >= at + 4);
  CHECK(std::ranges::find(longer.begin(), longer.begin() + at + 4, stop) ==
        longer.begin() + at + 4);
}

TEST_CASE("a full slot ends its answer") {
  auto generator = generator_of(vivid_decoder(2, 24));
  CHECK(generator.capacity() == 16);
  (void)generator.admit(Tokens(14, 3), {.most_tokens = 50}, {});
  std::optional<AnswerEnd> end;
  Tokens before;
  while (generator.active() > 0) {
    for (const auto& next : generator.step()) before.push_back(next.token), end = next.end;
  }
  CHECK(before.size() == 3);  // two in the cache, and the last
  CHECK(end == AnswerEnd::capacity);
  // Its rows stay while another text reads a prompt in pieces.
  CHECK(answers_of(generator, {kPrompts[0]}, {.most_tokens = 10}).size() == 1);
  generator.rewind(0, 2);
  CHECK(generator.step().front().token == before[1]);
  CHECK(generator.step().front().token == before[2]);
}

TEST_CASE("prompts and limits that cannot be are refused, and the slot stays free") {
  auto generator = generator_of(vivid_decoder(1, 24));
  CHECK_THROWS_WITH(generator.admit(Tokens(17, 3), {}, {}),
                    Catch::Contains("17 tokens") && Catch::Contains("at most 16"));
  CHECK_THROWS_AS(generator.admit(Tokens(), {}, {}), ValueError);
  CHECK_THROWS_WITH(generator.admit(Tokens{0, 256}, {}, {}),
                    Catch::Contains("token 1") && Catch::Contains("0 to 255"));
  CHECK_THROWS_AS(generator.admit(Tokens{-1}, {}, {}), ValueError);
  CHECK_THROWS_AS(generator.admit(Tokens{1}, {.most_tokens = 0}, {}), ValueError);
  CHECK_THROWS_AS(generator.admit(Tokens{1}, {.most_tokens = 2, .least_tokens = 3}, {}),
                  ValueError);
  CHECK_THROWS_AS(generator.admit(Tokens{1}, {.stop_tokens = {256}}, {}), ValueError);
  CHECK_THROWS_WITH(generator.admit(Tokens{1}, {.stop_texts = {"x"}}, {}),
                    Catch::Contains("tokenizer"));
  CHECK_THROWS_AS(generator.admit(Tokens{1}, {}, {.top_p = 0}), ValueError);
  CHECK(generator.step().empty());
  const std::size_t slot = generator.admit(Tokens{1}, {}, {});
  CHECK_THROWS_WITH(generator.admit(Tokens{1}, {}, {}), Catch::Contains("release one"));
  generator.release(slot);
  CHECK_THROWS_AS(generator.release(slot), NotFound);
}

TEST_CASE("networks of another form, and tokenizers of another vocabulary, are refused") {
  CHECK_THROWS_WITH(generator_of(models().at("lenet").make({})), Catch::Contains("'starts'"));
  CHECK_THROWS_WITH(generator_of(vivid_decoder(1, 8), 8), Catch::Contains("rows of the caches, 8"));
  const auto more = tokenizers().at("bytes").make({{"special", "<end>"}});
  CHECK_THROWS_WITH(NetworkGenerator(make_executor(vivid_decoder(1)), more),
                    Catch::Contains("257") && Catch::Contains("256"));
}

TEST_CASE("a step of a generator copies no byte of its caches") {
  auto generator = generator_of(vivid_decoder(3));
  (void)answers_of(generator, kPrompts, {.most_tokens = 3});
  const auto updates = planned_updates(generator.executor());
  CHECK(updates.size() == 4);
  for (const PlannedUpdate& update : updates) CHECK(update.copied_bytes == 0);
}
