// SPDX-License-Identifier: Apache-2.0
#include "evaluation/run/generator_predictor.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>
#include <utility>

#include "d5/evaluation/generation/served_generator.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "evaluation/generation/token_losses.hpp"

namespace d5::detail {

/// A generator that keeps each prompt with its answer. An answer of a fixed length has no stop
/// tokens: they are tokens as others, so that each is the largest score.
class GeneratorPredictor::KeepingGenerator final : public Generator {
 public:
  KeepingGenerator(std::shared_ptr<GraphExecutor> executor,
                   std::shared_ptr<const Tokenizer> tokenizer)
      : generator_(std::move(executor), std::move(tokenizer)) {}

  [[nodiscard]] std::string name() const override { return generator_.name(); }
  [[nodiscard]] std::size_t slots() const override { return generator_.slots(); }
  [[nodiscard]] std::int64_t capacity() const override { return generator_.capacity(); }
  [[nodiscard]] std::size_t active() const override { return generator_.active(); }

  std::size_t admit(std::span<const TokenId> prompt, const GenerationLimits& limits,
                    const Sampling& sampling) override {
    GenerationLimits own = limits;
    if (own.least_tokens == own.most_tokens) own.stop_tokens.clear();
    const std::size_t slot = generator_.admit(prompt, own, sampling);
    texts_[slot] = {.prompt = {prompt.begin(), prompt.end()}, .answer = {}};
    return slot;
  }
  const std::vector<GeneratedToken>& step() override {
    const auto& generated = generator_.step();
    for (const GeneratedToken& next : generated) {
      GeneratedText& text = texts_.at(next.slot);
      text.answer.push_back(next.token);
      if (!next.end) continue;
      const std::lock_guard lock(mutex_);
      ended_.push_back(text);
    }
    return generated;
  }
  void rewind(std::size_t slot, std::int64_t tokens) override {
    generator_.rewind(slot, tokens);
    auto& answer = texts_.at(slot).answer;
    answer.resize(answer.size() - std::size_t(tokens));
  }
  void release(std::size_t slot) override { generator_.release(slot); }

  [[nodiscard]] std::vector<GeneratedText> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(ended_, {});
  }
  [[nodiscard]] GraphExecutor& executor() { return generator_.executor(); }

 private:
  NetworkGenerator generator_;
  std::map<std::size_t, GeneratedText> texts_;  ///< by slot
  std::mutex mutex_;
  std::vector<GeneratedText> ended_;
};

GeneratorPredictor::GeneratorPredictor(const GeneratorManifest& manifest, const ModelAssets& assets,
                                       const std::string& word, std::int64_t slots)
    : word_(word) {
  const auto [executor, settings] = generator_word(word);
  LanguageModel model =
      open_generator(manifest, assets.files, {.slots = slots, .capacity = settings.capacity});
  limits_ = {.most_tokens = settings.most_tokens, .stop_tokens = std::move(model.end_tokens)};
  tokenizer_ = std::move(model.tokenizer);
  generator_ = std::make_shared<KeepingGenerator>(open_executor(executor, std::move(model.network)),
                                                  tokenizer_);
}

GeneratorPredictor::~GeneratorPredictor() = default;

std::unique_ptr<SystemUnderTest> GeneratorPredictor::system(Prompts& prompts) {
  std::vector<std::int64_t> samples(std::size_t(prompts.size()));
  std::iota(samples.begin(), samples.end(), std::int64_t{0});
  prompts.load(samples);
  std::vector<std::vector<TokenId>> tokens;
  for (const std::int64_t sample : samples) {
    tokens.push_back(tokenizer_->encode(prompts.text(sample)));
  }
  prompts.unload();
  (void)generator_->take();  // those of an earlier system
  return std::make_unique<ServedGenerator>(generator_, std::move(tokens), limits_);
}

void GeneratorPredictor::warm_up() {
  const std::int64_t most = NetworkGenerator::Options().piece + 1;
  const std::vector<TokenId> prompt(std::size_t(std::min(most, generator_->capacity())), 0);
  const std::size_t slot = generator_->admit(prompt, {.most_tokens = 2}, {});
  while (generator_->active() > 0) (void)generator_->step();
  generator_->release(slot);
}

std::vector<GeneratedText> GeneratorPredictor::take_answers() { return generator_->take(); }

std::vector<double> GeneratorPredictor::losses(std::span<const TokenId> text) {
  return token_losses(generator_->executor(), text);
}

}  // namespace d5::detail
