// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/generation/regret.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "d5/core/errors/error.hpp"
#include "tests/evaluation/generation/vivid_decoder.hpp"

using namespace d5;
using test::answers_of;
using test::generator_of;
using test::kPrompts;
using test::kVocabulary;
using test::Tokens;
using test::trained_decoder;
using test::vivid_decoder;

namespace {

constexpr std::int64_t kAnswer = 24;

/// A network of so many slots, with caches of so many rows.
using Made = Network (*)(std::int64_t slots, std::int64_t capacity);
constexpr std::int64_t kCapacity = 96;

/// Verdicts on the answers of a generator with this network, judged by one as it was made.
std::vector<RegretVerdict> verdicts_on(Network network, Made made) {
  RegretJudge judge(made(1, kCapacity));
  auto generator = generator_of(std::move(network));
  const auto answers = answers_of(generator, kPrompts, {.most_tokens = kAnswer});
  std::vector<RegretVerdict> verdicts;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    verdicts.push_back(judge.judge(kPrompts[i], answers[i]).verdict());
  }
  return verdicts;
}

std::ptrdiff_t wrong_ones(const std::vector<RegretVerdict>& verdicts) {
  return std::ranges::count(verdicts, RegretVerdict::wrong);
}

/// Makes the nodes whose names end so, one of each layer, read another tensor as their input
/// number `input`.
void rewire(Network& network, const std::string& end, std::size_t input,
            const std::string& tensor) {
  std::vector<onnx::Node> changed;
  for (const onnx::Node& node : network.graph().nodes) {
    if (node.name.ends_with(end)) changed.push_back(node);
  }
  CHECK(changed.size() > 1);
  for (onnx::Node& node : changed) {
    node.inputs.at(input) = tensor;
    network.replace_node(node.name, node);
  }
}

}  // namespace

TEST_CASE("honest generators have no regret above what rounding explains") {
  const Made made = GENERATE(vivid_decoder, trained_decoder);
  for (const RegretVerdict verdict : verdicts_on(made(3, kCapacity), made)) {
    CHECK(verdict == RegretVerdict::right);
  }
}

TEST_CASE("queries rotated one position too far are wrong") {
  const Made made = GENERATE(vivid_decoder, trained_decoder);
  Network network = made(3, kCapacity);
  onnx::Node late = network.node("positions");
  late.name = "late_positions";
  late.inputs = {"positions.out", "one"};
  late.outputs = {"late_positions.out"};
  network.splice({.nodes = {late}});
  rewire(network, ".attention.query.rotated", 3, "late_positions.out");
  CHECK(wrong_ones(verdicts_on(std::move(network), made)) > 0);
}

TEST_CASE("a mask that is one off is wrong, on either side") {
  const Made made = GENERATE(vivid_decoder, trained_decoder);
  const std::string op_type = GENERATE("Sub", "Add");
  Network network = made(3, kCapacity);
  onnx::Node off = network.node("lengths");
  off.name = "off_lengths";
  off.op_type = op_type;
  off.inputs = {"lengths.out", "one"};
  off.outputs = {"off_lengths.out"};
  network.splice({.nodes = {off}});
  rewire(network, ".attention.mean", 6, "off_lengths.out");
  CHECK(wrong_ones(verdicts_on(std::move(network), made)) > 0);
}

TEST_CASE("a row of the cache that a step did not write is wrong") {
  const Made made = GENERATE(vivid_decoder, trained_decoder);
  auto generator = generator_of(made(1, kCapacity));
  Network& network = generator.executor().network();
  const std::size_t slot = generator.admit(kPrompts[2], {.most_tokens = kAnswer}, {});
  Tokens answer;
  while (generator.active() > 0) {
    for (const auto& next : generator.step()) answer.push_back(next.token);
    if (answer.size() != 3) continue;
    for (const char* name : {"layer1.attention.key_cache", "layer1.attention.value_cache"}) {
      Tensor cache = network.fetch(name).copy();
      const std::int64_t width = cache.shape()[2];
      const auto rows = cache.span<float>();
      std::ranges::copy(rows.subspan(0, std::size_t(width)),
                        rows.begin() + (std::int64_t(kPrompts[2].size()) + 1) * width);
      network.feed(name, cache);
    }
  }
  generator.release(slot);
  const AnswerRegret regret = RegretJudge(made(1, kCapacity)).judge(kPrompts[2], answer);
  INFO(regret.summary());
  CHECK(regret.verdict() == RegretVerdict::wrong);
}

namespace {

/// Damages the first 32 weights of a layer, as a wrong scale of a block does.
Network with_wrong_block(Network network) {
  const auto weights = network.parameter("layer2.feed_forward.up.weight").value.span<float>();
  for (float& weight : weights.first(32)) weight *= 1.25F;
  network.values_changed();
  return network;
}

}  // namespace

TEST_CASE("a block of weights with another scale is wrong") {
  CHECK(wrong_ones(verdicts_on(with_wrong_block(vivid_decoder(3)), vivid_decoder)) > 0);
}

TEST_CASE("a fault that changes no choice has no regret, and another loss") {
  const Tokens prompt{kPrompts[2]};
  auto generator = generator_of(with_wrong_block(trained_decoder(1)));
  const Tokens answer = answers_of(generator, {prompt}, {.most_tokens = kAnswer}).front();
  RegretJudge judge(trained_decoder(1)), damaged(with_wrong_block(trained_decoder(1)));
  const AnswerRegret right = judge.judge(prompt, answer);
  CHECK(right.verdict() == RegretVerdict::right);
  CHECK(std::abs(damaged.judge(prompt, answer).loss - right.loss) > 1e-4);
}

TEST_CASE("a token that the system's own scores do not choose is wrong, by their difference") {
  auto generator = generator_of(vivid_decoder(1));
  (void)generator.admit(kPrompts[0], {.most_tokens = 6}, {});
  Tokens answer;
  std::vector<float> scores;
  while (generator.active() > 0) {
    for (const auto& next : generator.step()) {
      answer.push_back(next.token);
      scores.assign(next.scores.begin(), next.scores.end());
    }
  }
  const auto least = std::ranges::min_element(scores) - scores.begin();
  const double expected =
      double(scores[std::size_t(answer.back())]) - double(scores[std::size_t(least)]);
  const TokenId best = answer.back();
  answer.back() = least;
  const AnswerRegret regret = RegretJudge(vivid_decoder(1)).judge(kPrompts[0], answer);
  REQUIRE(regret.tokens.size() == 6);
  const TokenRegret& last = regret.tokens.back();
  CHECK(last.place == 5);
  CHECK(last.token == least);
  CHECK(last.best == best);
  CHECK(last.regret == Approx(expected).epsilon(1e-4));
  CHECK(last.verdict == RegretVerdict::wrong);
  for (std::size_t i = 0; i < 5; ++i) CHECK(regret.tokens[i].verdict == RegretVerdict::right);
  CHECK(regret.largest() == last.regret);
  CHECK_THAT(regret.summary(), Catch::StartsWith("wrong: token " + std::to_string(least)) &&
                                   Catch::Contains("place 5"));
}

TEST_CASE("a network that scores all tokens alike loses ln V nats a token, and regrets nothing") {
  Network network = vivid_decoder(1);
  for (Parameter& parameter : network.parameters()) {
    std::ranges::fill(parameter.value.span<float>(), 0.0F);
  }
  const AnswerRegret regret = RegretJudge(network).judge(Tokens{1, 2}, Tokens{3, 4, 255});
  CHECK(regret.loss == Approx(std::log(double(kVocabulary))).epsilon(1e-12));
  CHECK(regret.largest() == 0);
  CHECK(regret.verdict() == RegretVerdict::right);
  CHECK(regret.summary() == "right: every token is the reference's choice");
}

TEST_CASE("a judge leaves the generator's own network as it is") {
  const Network network = vivid_decoder(1);
  RegretJudge judge(network);
  (void)judge.judge(Tokens{1, 2}, Tokens{3, 4});
  for (const float element : network.fetch("layer1.attention.key_cache").span<float>()) {
    REQUIRE(element == 0);
  }
}

TEST_CASE("answers that cannot be judged are refused") {
  RegretJudge judge(vivid_decoder(1, 8));
  CHECK_THROWS_AS(judge.judge(Tokens{}, Tokens{1}), ValueError);
  CHECK_THROWS_AS(judge.judge(Tokens{1}, Tokens{}), ValueError);
  CHECK_THROWS_AS(judge.judge(Tokens{1}, Tokens{256}), ValueError);
  CHECK_THROWS_WITH(judge.judge(Tokens(5, 1), Tokens(5, 1)), Catch::Contains("at most 9"));
  CHECK_THROWS_AS(RegretJudge(models().at("lenet").make({})), NotFound);
}
