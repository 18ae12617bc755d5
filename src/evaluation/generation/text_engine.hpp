// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "d5/evaluation/generation/generator.hpp"
#include "d5/evaluation/load/query_record.hpp"

namespace d5::detail {

/// A text to continue.
struct TextRequest {
  std::vector<TokenId> prompt = {};
  GenerationLimits limits = {};
  Sampling sampling = {};
};

/// Tokens of an answer that arrive together. A role has none.
struct AnswerPiece {
  std::span<const TokenId> tokens = {};  ///< valid until the call returns
  PieceKind kind = PieceKind::content;
};

/// How an answer ended.
struct AnswerOutcome {
  std::optional<AnswerEnd> end = {};  ///< nothing: it failed
  std::exception_ptr fault = {};      ///< why it failed
  std::int64_t begun = 0;             ///< moment at which it got its slot, in ns; 0: never
  std::int32_t batch = 1;             ///< texts in the last step
};
/// The words of a fault.
[[nodiscard]] std::string words_of(const std::exception_ptr& fault);

/// Hears one answer: pieces, then one outcome. It neither waits nor calls the engine.
/// Thread safety: one thread at a time calls it, the engine's or that of `ask`.
class AnswerListener {
 public:
  virtual ~AnswerListener() = default;
  virtual void piece(const AnswerPiece& piece) = 0;
  virtual void end(const AnswerOutcome& outcome) = 0;
};

/// Continues texts for any number of askers, on a thread of its own. Texts wait in line for a slot.
/// Its destructor ends the texts that are not over with a fault.
/// Thread safety: all functions.
class TextEngine {
 public:
  virtual ~TextEngine() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  /// Most tokens of a prompt and its answer together: a longer answer ends there.
  [[nodiscard]] virtual std::int64_t capacity() const = 0;
  /// Puts a text in line, and returns its number; nothing if line and slots are full. What is wrong
  /// with a text is its outcome.
  [[nodiscard]] virtual std::optional<std::int64_t> ask(
      TextRequest request, std::shared_ptr<AnswerListener> listener) = 0;
  /// Gives a text up, whose slot is free from the next step on. A text that is over may be dropped.
  virtual void drop(std::int64_t number) = 0;
};

}  // namespace d5::detail
