// SPDX-License-Identifier: Apache-2.0
// Trained models, judged by implementations of their own: PyTorch in float64.
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>

#include "d5/core/files/atomic_file.hpp"
#include "d5/core/files/carried_file.hpp"
#include "d5/evaluation/generation/gguf_model.hpp"
#include "d5/evaluation/generation/network_generator.hpp"
#include "d5/evaluation/generation/regret.hpp"
#include "d5/evaluation/generation/safetensors_model.hpp"
#include "d5/evaluation/manifest/generator_manifest.hpp"
#include "d5/evaluation/manifest/manifest.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"

using namespace d5;

namespace {

/// By tokens and losses of others: greedy tokens of PyTorch after a prompt, and the manifest's.
struct Truth {
  std::string manifest, prompt;
  std::vector<TokenId> tokens;
};

void check_model(const LanguageModel& model, const Truth& truth) {
  const std::vector<TokenId> prompt = model.tokenizer->encode(truth.prompt);
  RegretJudge judge(model.network);
  std::vector<TokenId> answer;
  {
    NetworkGenerator generator(make_executor(model.network), model.tokenizer);
    (void)generator.admit(prompt, {.most_tokens = std::int64_t(truth.tokens.size())}, {});
    while (generator.active() > 0) {
      for (const GeneratedToken& next : generator.step()) answer.push_back(next.token);
    }
  }
  CHECK(answer == truth.tokens);
  const AnswerRegret regret = judge.judge(prompt, answer);
  INFO(regret.summary());
  CHECK(regret.verdict() == RegretVerdict::right);

  const std::string file = carried_file("data/generators/" + truth.manifest + ".yaml");
  const auto manifest = parse_manifest<GeneratorManifest>(read_file(file), file);
  REQUIRE_FALSE(manifest.losses.empty());
  for (const LossClaim& claim : manifest.losses) {
    const std::vector<TokenId> tokens = model.tokenizer->encode(claim.text);
    const auto all = std::span(tokens);
    const double loss = judge.judge(all.first(1), all.subspan(1)).loss;
    CHECK(std::abs(loss - claim.loss) <= claim.tolerance);
  }
}

}  // namespace

/// PyTorch has weights as ggml's package reads them. The answer: " Paris.\n\nThe answer is:
/// 2018-01-22 12:1".
TEST_CASE("SmolLM2 generates PyTorch's tokens, and has the losses that its manifest claims") {
  const std::string file = D5_MODELS "/smollm2/smollm2.gguf";
  if (!std::filesystem::exists(file)) {
    WARN("left out: scripts/models smollm2 fetches the model");
    return;
  }
  check_model(open_gguf(file, {.slots = 1, .capacity = 80}),
              {"smollm2", "The capital of France is", {7042, 30, 198, 198, 504, 2988, 314, 42,
                                                       216,  34, 32,  33,  40,  29,   32,  33,
                                                       29,   34, 34,  216, 33,  34,   42,  33}});
}

/// transformers has the same files. The answer: " the same of the same of the same of the same of".
TEST_CASE("the decoder that d5 carries generates PyTorch's tokens, and has the losses of PyTorch") {
  const LanguageModel model = open_safetensors(carried_file("data/generators/bytes-decoder"),
                                               {.slots = 1, .capacity = 256});
  std::vector<TokenId> tokens;
  for (int i = 0; i < 4; ++i) {
    for (const char letter : std::string_view(" the same of")) tokens.push_back(letter);
  }
  check_model(model, {"bytes-decoder", "A benchmark is", tokens});
}
