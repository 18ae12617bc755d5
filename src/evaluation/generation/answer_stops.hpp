// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "d5/evaluation/generation/generator.hpp"

namespace d5::detail {

/// Decides when an answer has ended. It keeps nothing between calls: an answer may be rewound.
class AnswerStops {
 public:
  /// Throws: ValueError for limits that cannot be, for stop texts without a tokenizer, and for stop
  /// tokens outside the vocabulary.
  AnswerStops(GenerationLimits limits, std::shared_ptr<const Tokenizer> tokenizer,
              std::int64_t vocabulary);

  /// Tokens that an answer of this length must not go on with.
  [[nodiscard]] std::span<const TokenId> barred(std::size_t length) const;
  /// The end that the last token of `answer` is.
  [[nodiscard]] std::optional<AnswerEnd> end(std::span<const TokenId> answer) const;

 private:
  [[nodiscard]] bool completes_text(std::span<const TokenId> answer) const;

  GenerationLimits limits_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  std::size_t longest_ = 0;  ///< bytes of the longest stop text
};

}  // namespace d5::detail
