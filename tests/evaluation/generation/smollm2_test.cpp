// SPDX-License-Identifier: Apache-2.0
// A trained model, if `scripts/models smollm2` has fetched it. It is judged by an implementation of
// its own: PyTorch in float64, with the weights as ggml's package reads them.
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>

#include "d5/core/files/atomic_file.hpp"
#include "d5/evaluation/generation/gguf_model.hpp"
#include "d5/evaluation/generation/network_generator.hpp"
#include "d5/evaluation/generation/regret.hpp"
#include "d5/evaluation/manifest/generator_manifest.hpp"
#include "d5/evaluation/manifest/manifest.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"

using namespace d5;

namespace {

const std::string kSmolLm2 = D5_MODELS "/smollm2/smollm2.gguf";

/// PyTorch's 24 greedy tokens after "The capital of France is": " Paris.\n\nThe answer is:
/// 2018-01-22 12:1".
const std::vector<TokenId> kTorchTokens{7042, 30, 198, 198, 504, 2988, 314, 42,  216, 34, 32, 33,
                                        40,   29, 32,  33,  29,  34,   34,  216, 33,  34, 42, 33};

GeneratorManifest smollm2_manifest() {
  const auto root = std::filesystem::path(__FILE__).parent_path() / "../../..";
  const std::string file = (root / "data/generators/smollm2.yaml").string();
  return parse_manifest<GeneratorManifest>(read_file(file), file);
}

}  // namespace

TEST_CASE("SmolLM2 generates PyTorch's tokens, and has the losses that its manifest claims") {
  if (!std::filesystem::exists(kSmolLm2)) {
    WARN("left out: scripts/models smollm2 fetches the model");
    return;
  }
  const LanguageModel model = open_gguf(kSmolLm2, {.slots = 1, .capacity = 80});
  const std::vector<TokenId> prompt = model.tokenizer->encode("The capital of France is");
  RegretJudge judge(model.network);
  std::vector<TokenId> answer;
  {
    NetworkGenerator generator(make_executor(model.network), model.tokenizer);
    (void)generator.admit(prompt, {.most_tokens = 24}, {});
    while (generator.active() > 0) {
      for (const GeneratedToken& next : generator.step()) answer.push_back(next.token);
    }
  }
  CHECK(answer == kTorchTokens);
  const AnswerRegret regret = judge.judge(prompt, answer);
  INFO(regret.summary());
  CHECK(regret.verdict() == RegretVerdict::right);

  const GeneratorManifest manifest = smollm2_manifest();
  REQUIRE_FALSE(manifest.losses.empty());
  for (const LossClaim& claim : manifest.losses) {
    const std::vector<TokenId> tokens = model.tokenizer->encode(claim.text);
    const auto all = std::span(tokens);
    const double loss = judge.judge(all.first(1), all.subspan(1)).loss;
    CHECK(std::abs(loss - claim.loss) <= claim.tolerance);
  }
}
