// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "d5/evaluation/generation/sampling.hpp"
#include "d5/level2_training/data/tokenizer.hpp"

namespace d5 {

/// Ends of an answer.
struct GenerationLimits {
  std::int64_t most_tokens = 16;
  /// Tokens before which no stop ends the answer; until then stop tokens are not chosen.
  std::int64_t least_tokens = 0;
  std::vector<TokenId> stop_tokens = {};     ///< the one that is met is the answer's last token
  std::vector<std::string> stop_texts = {};  ///< the token that completes one is the last
};

/// Reason for the end of an answer.
enum class AnswerEnd { most_tokens, stop_token, stop_text, capacity };

/// A token of a step.
struct GeneratedToken {
  std::size_t slot = 0;
  TokenId token = 0;
  std::optional<AnswerEnd> end = {};   ///< set for the last token of an answer
  std::span<const float> scores = {};  ///< one a token, valid until the next step; may be empty
};

/// Continues several texts at once, a token a step each (continuous batching by slots): texts are
/// admitted and released between steps.
///
///     const std::size_t slot = generator.admit(tokenizer.encode("The capital"), {}, {});
///     while (generator.active() > 0) {
///       for (const GeneratedToken& next : generator.step()) {
///         std::cout << tokenizer.decode({&next.token, 1});
///       }
///     }
///     generator.release(slot);
///
/// Thread safety: one thread at a time.
class Generator {
 public:
  virtual ~Generator() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  /// Largest number of texts at once.
  [[nodiscard]] virtual std::size_t slots() const = 0;
  /// Most tokens of a slot's prompt and answer together, without the answer's last.
  [[nodiscard]] virtual std::int64_t capacity() const = 0;

  /// Number of texts whose answer has not ended.
  [[nodiscard]] virtual std::size_t active() const = 0;

  /// Takes a prompt into a free slot. Throws: ValueError for an empty or too long prompt, a token
  /// outside the vocabulary, limits or a sampling that cannot be, or if no slot is free.
  virtual std::size_t admit(std::span<const TokenId> prompt, const GenerationLimits& limits,
                            const Sampling& sampling) = 0;
  /// One run of the network: at most one new token of each active text. A long prompt is read in
  /// several steps, without a token of its own, in which the other texts go on. Valid until the
  /// next call.
  virtual const std::vector<GeneratedToken>& step() = 0;
  /// Forgets the last `tokens` tokens of a slot's answer, which goes on from there.
  /// Throws: NotFound for a free slot; ValueError for more tokens than the answer has.
  virtual void rewind(std::size_t slot, std::int64_t tokens) = 0;
  /// Frees a slot, at any time. Throws: NotFound for a free slot.
  virtual void release(std::size_t slot) = 0;
};

}  // namespace d5
