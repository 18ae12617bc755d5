// SPDX-License-Identifier: Apache-2.0
#include "evaluation/predictor/clockwork_engine.hpp"

#include <algorithm>
#include <future>
#include <utility>

#include "core/thread_pool/new_thread.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

constexpr TokenId kTick = 256;

}  // namespace

std::shared_ptr<const Tokenizer> ClockworkEngine::tokenizer() {
  static const std::shared_ptr<const Tokenizer> made =
      tokenizers().at("bytes").make({{"special", clockwork_text({.tokens = 1}) + ",<|end|>"}});
  return made;
}

ClockworkEngine::ClockworkEngine(const ClockworkOptions& options, std::size_t most_waiting)
    : options_(options),
      most_waiting_(most_waiting),
      ticks_(std::size_t(options.per_piece), kTick),
      clockwork_(options) {
  std::promise<void> made;
  thread_ = new_thread<std::jthread>("clockwork", [this, &made](const std::stop_token& stop) {
    clock_ = monotonic_load_clock();  // sets the timer slack of this thread
    made.set_value();
    tick(stop);
  });
  made.get_future().wait();
}

ClockworkEngine::~ClockworkEngine() {
  thread_.request_stop();
  clock_->wake();
  thread_.join();
  const auto fault = std::make_exception_ptr(CommunicationError("it was closed"));
  for (const auto& [number, text] : texts_) text.listener->end({.fault = fault});
}

std::int64_t ClockworkEngine::capacity() const {
  constexpr std::int64_t kLeast = 1 << 18;  // its times are in memory
  return std::max(kLeast, options_.tokens);
}

std::optional<std::int64_t> ClockworkEngine::ask(TextRequest request,
                                                 std::shared_ptr<AnswerListener> listener) {
  const GenerationLimits& limits = request.limits;
  const std::int64_t most = std::min(limits.most_tokens, capacity());
  std::int64_t tokens = most;
  if (!limits.stop_tokens.empty()) {
    tokens = std::min(std::max(options_.tokens, limits.least_tokens), most);
  }
  std::int64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto slots = std::size_t(options_.slots);
    if (slots > 0 && texts_.size() >= slots && texts_.size() - slots >= most_waiting_) {
      return std::nullopt;
    }
    number = next_++;
    if (limits.stop_texts.empty() && most > 0) {
      clockwork_.ask(number, clock_->now(), tokens);
      texts_[number] = {.listener = std::move(listener),
                        .end = tokens < most ? AnswerEnd::stop_token : AnswerEnd::most_tokens};
    }
  }
  if (listener) {
    listener->end({.fault = std::make_exception_ptr(ValueError(
                       "clockwork: it takes one token or more, and no stop texts: every token is "
                       "the same"))});
  } else {
    clock_->wake();
  }
  return number;
}

void ClockworkEngine::drop(std::int64_t number) {
  const std::lock_guard lock(mutex_);
  if (texts_.erase(number) > 0) clockwork_.drop(number, clock_->now());
}

void ClockworkEngine::tick(const std::stop_token& stop) {
  constexpr std::int64_t kIdle = 1'000'000'000;  // ns; a request wakes it
  while (!stop.stop_requested()) {
    std::int64_t next = 0;
    {
      const std::lock_guard lock(mutex_);
      next = clockwork_.next().value_or(clock_->now() + kIdle);
    }
    clock_->wait_until(next);
    const std::lock_guard lock(mutex_);
    clockwork_.pass(
        clock_->now(), [this](const QueryProgress& piece) { tell(piece); },
        [this](const QueryAnswer& answer) { tell(answer); });
  }
}

void ClockworkEngine::tell(const QueryProgress& piece) {
  texts_.at(piece.id).listener->piece(
      {.tokens = std::span(ticks_).first(std::size_t(piece.tokens)), .kind = piece.kind});
}

void ClockworkEngine::tell(const QueryAnswer& answer) {
  const Text text = std::move(texts_.extract(answer.id).mapped());
  AnswerOutcome outcome{.end = text.end, .begun = answer.begun};
  if (answer.status == Status::failed) {
    outcome = {.fault = std::make_exception_ptr(CommunicationError(std::string(answer.reason))),
               .begun = answer.begun};
  }
  text.listener->end(outcome);
}

}  // namespace d5::detail
