// SPDX-License-Identifier: Apache-2.0
#include "serving/generators/running_completion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "serving/generators/completion_fault.hpp"

namespace d5::detail {

/// What the engine's thread said, for the client's.
class RunningCompletion::Heard final : public AnswerListener {
 public:
  struct Piece {
    std::vector<TokenId> tokens = {};
    PieceKind kind = PieceKind::content;
    std::optional<AnswerOutcome> outcome = {};
  };

  void piece(const AnswerPiece& piece) override {
    add({.tokens = {piece.tokens.begin(), piece.tokens.end()}, .kind = piece.kind});
  }
  void end(const AnswerOutcome& outcome) override { add({.outcome = outcome}); }

  std::optional<Piece> wait(double seconds) {
    std::unique_lock lock(mutex_);
    const std::chrono::duration<double> most(seconds);
    if (!changed_.wait_for(lock, most, [&] { return !pieces_.empty(); })) return std::nullopt;
    Piece piece = std::move(pieces_.front());
    pieces_.pop_front();
    return piece;
  }

 private:
  void add(Piece piece) {
    {
      const std::lock_guard lock(mutex_);
      pieces_.push_back(std::move(piece));
    }
    changed_.notify_one();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Piece> pieces_;
};

RunningCompletion::RunningCompletion(std::shared_ptr<TextModel> model, TextRequest request)
    : model_(std::move(model)),
      heard_(std::make_shared<Heard>()),
      stop_tokens_(request.limits.stop_tokens),
      prompt_tokens_(std::int64_t(request.prompt.size())),
      decoded_(model_->tokenizer),
      cut_(request.limits.stop_texts) {
  const auto number = model_->engine->ask(std::move(request), heard_);
  if (!number) {
    throw CompletionFault(
        fmt::format("model '{}' has no room in its line now; try again later", model_->name), {},
        {.status = 429, .code = "line_full"});
  }
  number_ = *number;
}

RunningCompletion::~RunningCompletion() {
  if (!is_over_) model_->engine->drop(number_);
}

std::string RunningCompletion::text_of(const std::vector<TokenId>& tokens) {
  std::string text;
  for (const TokenId token : tokens) {
    const bool is_stop = std::ranges::find(stop_tokens_, token) != stop_tokens_.end();
    if (!is_stop) text += cut_.next(decoded_.next(token));
  }
  return text;
}

std::optional<RunningCompletion::Text> RunningCompletion::next(double seconds) {
  const auto piece = heard_->wait(seconds);
  if (!piece) return std::nullopt;
  tokens_ += std::int64_t(piece->tokens.size());
  Text text{.text = text_of(piece->tokens), .kind = piece->kind, .outcome = piece->outcome};
  if (text.outcome) {
    is_over_ = true;
    text.text += cut_.next(decoded_.rest());
    text.text += cut_.rest();
  }
  return text;
}

}  // namespace d5::detail
