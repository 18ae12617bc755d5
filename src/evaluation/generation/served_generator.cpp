// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/generation/served_generator.hpp"

#include <algorithm>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "evaluation/generation/generator_line.hpp"

namespace d5 {

/// The answer to one query.
class ServedGenerator::Answer final : public detail::AnswerListener {
 public:
  Answer(ServedGenerator& served, const Query& query)
      : served_(served), id_(query.id), run_(served.run_), place_(query.place) {}

  void piece(const detail::AnswerPiece& piece) override {
    tokens_.insert(tokens_.end(), piece.tokens.begin(), piece.tokens.end());
    served_.progress(
        {{.id = id_, .tokens = std::int64_t(piece.tokens.size()), .kind = piece.kind}});
  }
  void end(const detail::AnswerOutcome& outcome) override {
    QueryAnswer answer{.id = id_, .begun = outcome.begun, .batch = outcome.batch};
    const std::string reason = detail::words_of(outcome.fault);
    if (outcome.end) {
      served_.keep(run_, place_, tokens_);
      answer.bytes = std::as_bytes(std::span(tokens_));
      answer.tokens = std::int64_t(tokens_.size());
    } else {
      answer.status = Status::failed;
      answer.reason = reason;
    }
    served_.complete({answer});
  }

 private:
  ServedGenerator& served_;
  std::int64_t id_, run_;
  SessionTurn place_;
  std::vector<TokenId> tokens_;
};

ServedGenerator::ServedGenerator(std::shared_ptr<Generator> generator,
                                 std::vector<std::vector<TokenId>> prompts, GenerationLimits limits,
                                 Sampling sampling)
    : name_(generator->name()),
      prompts_(std::move(prompts)),
      limits_(std::move(limits)),
      sampling_(sampling) {
  if (prompts_.empty()) throw ValueError(name_ + ": there are no prompts, expected one or more");
  for (const auto& prompt : prompts_) {
    vocabulary_.insert(vocabulary_.end(), prompt.begin(), prompt.end());
  }
  std::ranges::sort(vocabulary_);
  const auto [first, last] = std::ranges::unique(vocabulary_);
  vocabulary_.erase(first, last);
  engine_ = std::make_unique<detail::GeneratorLine>(std::move(generator));
}

ServedGenerator::~ServedGenerator() = default;

std::int64_t ServedGenerator::samples() const { return std::int64_t(prompts_.size()); }

void ServedGenerator::load(std::span<const std::int64_t>) {
  const std::lock_guard lock(mutex_);
  ++run_;
  sessions_.clear();
}

std::vector<TokenId> ServedGenerator::prompt_of(const Query& query) {
  if (query.text) {
    std::vector<TokenId> drawn;
    for (const std::uint64_t number : query.text->prompt) {
      if (vocabulary_.empty()) break;  // the generator refuses an empty prompt
      drawn.push_back(vocabulary_[std::size_t((number * vocabulary_.size()) >> 32)]);
    }
    return drawn;
  }
  const std::vector<TokenId>& own = prompts_.at(std::size_t(query.sample));
  if (query.place.session < 0) return own;
  const std::lock_guard lock(mutex_);
  Session& session = sessions_[query.place.session];
  if (query.place.turn == 0) session = {};
  session.asked = session.said;
  session.asked.insert(session.asked.end(), own.begin(), own.end());
  return session.asked;
}

void ServedGenerator::keep(std::int64_t run, const SessionTurn& place,
                           const std::vector<TokenId>& answer) {
  if (place.session < 0) return;
  const std::lock_guard lock(mutex_);
  if (run != run_) return;
  Session& session = sessions_[place.session];
  session.said = std::move(session.asked);
  session.said.insert(session.said.end(), answer.begin(), answer.end());
}

void ServedGenerator::issue(std::span<const Query> queries) {
  for (const Query& query : queries) {
    detail::TextRequest request{
        .prompt = prompt_of(query), .limits = limits_, .sampling = sampling_};
    request.sampling.request = std::uint32_t(query.sample);
    if (query.text) {
      request.limits.most_tokens = request.limits.least_tokens = query.text->answer_tokens;
      request.sampling.request = std::uint32_t(query.text->number);
    }
    (void)engine_->ask(std::move(request), std::make_shared<Answer>(*this, query));
  }
}

}  // namespace d5
