// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "d5/evaluation/generation/generator.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"

namespace d5 {

/// Generates with a network that keeps the caches of its slots as state, in any executor: the
/// built-in `decoder`, or one of its form, as the transform `kv-state` makes it.
///
/// Shapes: inputs tokens (int64 slots x T), starts (int64 slots: rows of each cache that are
/// filled) and places (int64 slots x L x 1: tokens to score after); output logits (float32 slots x
/// L x vocabulary); each constant that runs update is a cache, slots x rows x width or slots x
/// heads x rows x size.
///
/// A run takes one token a slot, or `piece` while a slot has a longer prompt to read, so that two
/// plans do. What a slot lacks of a piece is filled up with token 0 behind its text, where nothing
/// reads it and the next run overwrites it. So `capacity` is `piece` rows below the cache's.
class NetworkGenerator final : public Generator {
 public:
  struct Options {
    std::int64_t piece = 16;  ///< prompt tokens a run
  };
  /// `tokenizer` finds stop texts; it may be null. A network may score more ids than the tokenizer
  /// has: those are not chosen.
  /// Throws: ShapeError, TypeError, NotFound for a network of another form; ValueError for a
  /// tokenizer with more ids than the network scores, and for a piece that the cache cannot hold.
  explicit NetworkGenerator(std::shared_ptr<GraphExecutor> executor,
                            std::shared_ptr<const Tokenizer> tokenizer, Options options);
  explicit NetworkGenerator(std::shared_ptr<GraphExecutor> executor,
                            std::shared_ptr<const Tokenizer> tokenizer = nullptr)
      : NetworkGenerator(std::move(executor), std::move(tokenizer), Options()) {}
  ~NetworkGenerator() override;

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::size_t slots() const override;
  [[nodiscard]] std::int64_t capacity() const override;
  [[nodiscard]] std::size_t active() const override;
  std::size_t admit(std::span<const TokenId> prompt, const GenerationLimits& limits,
                    const Sampling& sampling) override;
  const std::vector<GeneratedToken>& step() override;
  void rewind(std::size_t slot, std::int64_t tokens) override;
  void release(std::size_t slot) override;

  [[nodiscard]] GraphExecutor& executor();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace d5
