// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "d5/evaluation/generation/network_generator.hpp"
#include "d5/evaluation/predictor/text_predictor.hpp"
#include "evaluation/run/generator_model.hpp"

namespace d5::detail {

/// A prompt and its whole answer, as the generator was asked and as it chose.
struct GeneratedText {
  std::vector<TokenId> prompt, answer;
  auto operator<=>(const GeneratedText&) const = default;
};

/// A generator in an executor, which scenarios query. Prompts are continued as they are, without a
/// template of chats; each token is the largest score.
class GeneratorPredictor final : public TextPredictor {
 public:
  /// `word`: that of `generator_word`. `slots`: texts at once. Throws: what opening throws.
  GeneratorPredictor(const GeneratorManifest& manifest, const ModelAssets& assets,
                     const std::string& word, std::int64_t slots);
  ~GeneratorPredictor() override;

  [[nodiscard]] std::string name() const override { return word_; }
  [[nodiscard]] std::unique_ptr<SystemUnderTest> system(Prompts& prompts) override;
  /// One short answer: the executor's plans of a step and of a piece are ready after it.
  void warm_up();
  /// Answers that have ended since the last call, of all systems. Thread safety: any thread.
  [[nodiscard]] std::vector<GeneratedText> take_answers();
  [[nodiscard]] const Tokenizer& tokenizer() const { return *tokenizer_; }
  /// Losses of the tokens after the first. Throws: as `token_losses`.
  [[nodiscard]] std::vector<double> losses(std::span<const TokenId> text);

 private:
  class KeepingGenerator;
  std::string word_;
  GenerationLimits limits_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  std::shared_ptr<KeepingGenerator> generator_;
};

}  // namespace d5::detail
