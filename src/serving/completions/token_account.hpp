// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "d5/evaluation/load/system_under_test.hpp"
#include "serving/completions/completion_stream.hpp"

namespace d5::detail {

/// The tokens of a run's answers and prompts, counted in every way that there is, and what differs.
struct TokenAccount {
  /// Counts of tokens of the same answers, or prompts; nothing: not counted.
  struct Counts {
    std::optional<std::int64_t> by_usage = {}, by_pieces = {}, by_tokenizer = {};
    std::optional<std::int64_t> by_trace = {};  ///< as asked for
  };
  Counts answers = {}, prompts = {};
  std::int64_t cached = 0;    ///< prompt tokens that the server took from a cache
  std::int64_t shared = 0;    ///< prompt tokens that earlier prompts of a trace began with, too
  bool has_template = false;  ///< the server writes chats, so that it has tokens of a template, too
  std::int64_t garbled = 0;   ///< answers with bytes that are not UTF-8
  /// Each prompt began with a nonce, or shares no more than `shared` tokens with others.
  bool expects_fresh = true;
  /// Tokens that each answer should have: it was asked not to end before; nothing: any number.
  std::optional<std::int64_t> asked_tokens = {};
  std::int64_t whole_answers = 0;  ///< answers that came to their end
  std::int64_t empty_answers = 0;  ///< whole ones in which no token came
  /// Answers of which something is wrong, and the first of them in words.
  struct Wrong {
    std::int64_t answers = 0;
    std::string first = {};
  };
  Wrong miscounted = {};                      ///< the usage is not what came
  Wrong longer = {};                          ///< more tokens than asked for
  std::map<int, std::int64_t> refusals = {};  ///< answers by HTTP's status, 300 and above
  double run_seconds = 0, busy_seconds = 0;   ///< length; the client's processor time

  /// Judges one whole answer: sums over all hide what differs in opposite directions.
  void add_answer(std::optional<std::int64_t> by_usage, std::int64_t by_pieces,
                  std::int64_t most_tokens);

  /// Counts as conditions. A doubt: counts of the same tokens that differ by more than 1%, in sums
  /// or in more than 1% of the answers; more than 1% of the answers without a token; answers of
  /// another length than asked, prompts from a cache, no count by the server. A fault: the client
  /// was busy for more than a tenth of the time, so that it took from the server, or stamped late.
  ///
  /// The server's usage may have one token an answer more than other counts: the one that ends it,
  /// which has no text. Its usage of prompts has a chat's template, too, which it may keep.
  [[nodiscard]] SystemReport report() const;

 private:
  /// At most; half of the prompts where nobody else counts their tokens.
  [[nodiscard]] std::int64_t tokens_of_templates() const;
};

}  // namespace d5::detail
