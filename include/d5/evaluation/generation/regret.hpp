// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "d5/level1_network/graph/network.hpp"
#include "d5/level2_training/data/tokenizer.hpp"

namespace d5 {

enum class RegretVerdict {
  right,     ///< within what rounding explains
  doubtful,  ///< below `kDoubtfulBounds` bounds, as of arithmetic in fewer bits
  wrong,
};
[[nodiscard]] std::string_view to_string(RegretVerdict verdict);

/// A token that a greedy system chose, and what the reference would have.
struct TokenRegret {
  std::int64_t place = 0;  ///< in the answer
  TokenId token = 0, best = 0;
  double regret = 0;  ///< the reference's best score minus that of `token`
  RegretVerdict verdict = RegretVerdict::right;
};

/// Judgement of an answer.
struct AnswerRegret {
  std::vector<TokenRegret> tokens = {};
  double bound = 0;  ///< regret that rounding explains, for every token of the answer
  double loss = 0;   ///< mean negative log likelihood of the answer, in nats a token

  [[nodiscard]] double largest() const;
  [[nodiscard]] RegretVerdict verdict() const;  ///< the worst of all tokens
  /// "wrong: token 17 at place 3 has regret 0.21, the reference chooses 4; rounding explains
  /// 1.1e-05".
  [[nodiscard]] std::string summary() const;
};

inline constexpr double kDoubtfulBounds = 64;

/// Judges answers of greedy generation by the reference: prompt and answer go through it in one
/// run, so that what is judged is each choice after the system's own tokens before it. One
/// different choice does not make later ones differ.
///
/// The scores are the reference's in float64. A system whose scores err by e has a regret of 2e at
/// most. Rounding explains e = 8 times the largest difference between the reference's scores in
/// float32 and in float64, over all places and tokens of the answer, plus 8 units in the last place
/// of the largest score: another order of sums, a fused operator, and a network that rounds almost
/// nothing.
///
///     RegretJudge judge(models().at("decoder").make({{"capacity", 512}}));
///     const AnswerRegret regret = judge.judge(prompt, answer);
class RegretJudge {
 public:
  /// `decoder`: of the form of `NetworkGenerator`, with the weights of the system, in float32; the
  /// first of its slots is used. Its own state stays as it is. Throws: as `NetworkGenerator`.
  explicit RegretJudge(const Network& decoder);
  ~RegretJudge();

  /// Throws: ValueError for an empty prompt or answer, a token outside the vocabulary, and more
  /// tokens than the caches have rows.
  [[nodiscard]] AnswerRegret judge(std::span<const TokenId> prompt,
                                   std::span<const TokenId> answer);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace d5
