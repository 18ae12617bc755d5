// SPDX-License-Identifier: Apache-2.0
#include "evaluation/generation/generator_line.hpp"

#include <algorithm>
#include <utility>

#include "core/thread_pool/new_thread.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/trace/trace.hpp"

namespace d5::detail {

std::string words_of(const std::exception_ptr& fault) {
  try {
    if (fault) std::rethrow_exception(fault);
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

GeneratorLine::GeneratorLine(std::shared_ptr<Generator> generator, std::size_t most_waiting)
    : generator_(std::move(generator)), most_waiting_(most_waiting) {
  thread_ = new_thread<std::thread>(generator_->name(), [this] { serve(); });
}

GeneratorLine::~GeneratorLine() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  thread_.join();
  const auto fault = std::make_exception_ptr(CommunicationError("it was closed"));
  fail_all(fault);
  for (const Waiting& text : waiting_) text.listener->end({.fault = fault});
}

std::optional<std::int64_t> GeneratorLine::ask(TextRequest request,
                                               std::shared_ptr<AnswerListener> listener) {
  std::int64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    const std::size_t slots = generator_->slots();
    if (open_ >= slots && open_ - slots >= most_waiting_) return std::nullopt;
    ++open_;
    number = next_++;
    waiting_.push_back(
        {.number = number, .request = std::move(request), .listener = std::move(listener)});
  }
  changed_.notify_all();
  return number;
}

void GeneratorLine::drop(std::int64_t number) {
  const std::lock_guard lock(mutex_);
  if (std::erase_if(waiting_, [&](const Waiting& text) { return text.number == number; }) > 0) {
    --open_;
  } else {
    dropped_.push_back(number);  // before the next step
  }
}

void GeneratorLine::serve() {
  while (const auto taken = take()) {
    for (const Waiting& text : *taken) admit(text);
    if (!texts_.empty()) step();
  }
}

std::optional<std::vector<GeneratorLine::Waiting>> GeneratorLine::take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return closed_ || !waiting_.empty() || !texts_.empty(); });
  if (closed_) return std::nullopt;
  for (const std::int64_t number : std::exchange(dropped_, {})) {
    const auto place = std::ranges::find_if(
        texts_, [&](const auto& text) { return text.second.number == number; });
    if (place == texts_.end()) continue;  // it was over before
    generator_->release(place->first);
    texts_.erase(place);
    --open_;
  }
  std::vector<Waiting> taken;
  while (!waiting_.empty() && texts_.size() + taken.size() < generator_->slots()) {
    taken.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  return taken;
}

void GeneratorLine::admit(const Waiting& text) {
  const std::int64_t now = Trace::now_ns();
  try {
    const TextRequest& asked = text.request;
    const std::size_t slot = generator_->admit(asked.prompt, asked.limits, asked.sampling);
    texts_[slot] = {.number = text.number, .begun = now, .listener = text.listener};
  } catch (const std::exception&) {
    {
      const std::lock_guard lock(mutex_);
      --open_;
    }
    text.listener->end({.fault = std::current_exception(), .begun = now});
  }
}

void GeneratorLine::step() {
  try {
    const auto batch = std::int32_t(texts_.size());
    for (const GeneratedToken& next : generator_->step()) {
      const Text& text = texts_.at(next.slot);
      text.listener->piece({.tokens = {&next.token, 1}});
      if (next.end) end(next.slot, {.end = next.end, .begun = text.begun, .batch = batch});
    }
  } catch (const std::exception&) {  // all texts were in that run
    fail_all(std::current_exception());
  }
}

void GeneratorLine::end(std::size_t slot, const AnswerOutcome& outcome) {
  const Text text = std::move(texts_.extract(slot).mapped());
  generator_->release(slot);
  {
    const std::lock_guard lock(mutex_);
    --open_;
  }
  text.listener->end(outcome);
}

void GeneratorLine::fail_all(const std::exception_ptr& fault) {
  while (!texts_.empty()) {
    end(texts_.begin()->first, {.fault = fault, .begun = texts_.begin()->second.begun});
  }
}

}  // namespace d5::detail
