// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/generation/regret.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "evaluation/generation/decoder_form.hpp"
#include "evaluation/generation/token_losses.hpp"
#include "level1_network/validation/float64_network.hpp"

namespace d5 {
namespace {

using Scores = std::span<const double>;

/// A larger score first, of equals the lowest id.
TokenId best_of(Scores scores) { return std::ranges::max_element(scores) - scores.begin(); }

/// Largest difference, and 8 units in the last place of the largest score.
double score_error(std::span<const float> own, Scores exact) {
  double difference = 0, largest = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double d = std::abs(double(own[i]) - exact[i]);
    // A NaN is larger than every bound: it must not be lost in a maximum.
    if (!(d <= difference)) difference = d;
    largest = std::max(largest, std::abs(exact[i]));
  }
  return 8 * difference + 8 * largest * double(std::numeric_limits<float>::epsilon());
}

}  // namespace

std::string_view to_string(RegretVerdict verdict) {
  switch (verdict) {
    case RegretVerdict::right:
      return "right";
    case RegretVerdict::doubtful:
      return "doubtful";
    case RegretVerdict::wrong:
      return "wrong";
  }
  return "";
}

double AnswerRegret::largest() const {
  return tokens.empty() ? 0 : std::ranges::max(tokens, {}, &TokenRegret::regret).regret;
}

RegretVerdict AnswerRegret::verdict() const {
  return tokens.empty() ? RegretVerdict::right
                        : std::ranges::max(tokens, {}, &TokenRegret::verdict).verdict;
}

std::string AnswerRegret::summary() const {
  if (tokens.empty()) return "right: the answer is empty";
  const TokenRegret& worst = std::ranges::max(tokens, {}, &TokenRegret::regret);
  if (worst.regret <= 0) return "right: every token is the reference's choice";
  return fmt::format(
      "{}: token {} at place {} has regret {:.2g}, the reference chooses {}; rounding explains "
      "{:.2g}",
      to_string(worst.verdict), worst.token, worst.place, worst.regret, worst.best, bound);
}

struct RegretJudge::State {
  detail::DecoderForm form;
  std::unique_ptr<GraphExecutor> own, exact;
};

RegretJudge::RegretJudge(const Network& decoder) : state_(std::make_unique<State>()) {
  state_->form = detail::decoder_form(decoder);
  // Caches of their own: every answer is one run, which reads none of the rows before it.
  state_->own = make_executor(decoder.copy());
  state_->exact = make_executor(in_float64(decoder));
}

RegretJudge::~RegretJudge() = default;

AnswerRegret RegretJudge::judge(std::span<const TokenId> prompt, std::span<const TokenId> answer) {
  const auto& form = state_->form;
  detail::expect_tokens(prompt, form, "prompt");
  detail::expect_tokens(answer, form, "answer");
  const auto count = std::int64_t(prompt.size() + answer.size() - 1);
  const auto answers = std::int64_t(answer.size());
  if (count > form.rows) {
    throw ValueError(fmt::format(
        "regret: prompt and answer have {} tokens, expected at most {}, the rows of the judge's "
        "caches and the last token; give the judge a network of more capacity",
        count + 1, form.rows + 1));
  }
  ValueMap inputs = detail::decoder_inputs(form, count, answers);
  auto* token = inputs.at("tokens").tensor().data<std::int64_t>();
  token = std::ranges::copy(prompt, token).out;
  std::ranges::copy(answer.first(answer.size() - 1), token);
  auto* place = inputs.at("places").tensor().data<std::int64_t>();
  for (std::int64_t i = 0; i < answers; ++i) place[i] = std::int64_t(prompt.size()) - 1 + i;
  const auto own = state_->own->inference(inputs).at("logits").tensor().span<float>();
  const auto exact = state_->exact->inference(inputs).at("logits").tensor().span<double>();

  AnswerRegret result;
  const auto vocabulary = std::size_t(form.vocabulary), all = vocabulary * answer.size();
  result.bound = 2 * score_error(own.first(all), exact.first(all));
  for (std::size_t i = 0; i < answer.size(); ++i) {
    const Scores scores = exact.subspan(i * vocabulary, vocabulary);
    TokenRegret next{.place = std::int64_t(i), .token = answer[i], .best = best_of(scores)};
    next.regret = scores[std::size_t(next.best)] - scores[std::size_t(next.token)];
    if (!(next.regret <= result.bound)) {
      next.verdict = next.regret < kDoubtfulBounds * result.bound ? RegretVerdict::doubtful
                                                                  : RegretVerdict::wrong;
    }
    result.loss += detail::token_loss(scores, next.token) / double(answer.size());
    result.tokens.push_back(next);
  }
  return result;
}

}  // namespace d5
