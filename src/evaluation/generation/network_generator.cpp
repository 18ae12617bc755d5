// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/generation/network_generator.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "evaluation/generation/answer_stops.hpp"
#include "evaluation/generation/decoder_form.hpp"

namespace d5 {

struct NetworkGenerator::State {
  /// A text in a slot.
  struct SlotText {
    std::vector<TokenId> tokens;  ///< prompt and answer
    std::size_t prompt = 0;       ///< tokens of the prompt
    std::size_t cached = 0;       ///< tokens that the caches hold
    Sampling sampling;
    detail::AnswerStops stops;
    bool ended = false;

    [[nodiscard]] std::span<const TokenId> answer() const {
      return std::span(tokens).subspan(prompt);
    }
    [[nodiscard]] std::int64_t waiting() const { return std::int64_t(tokens.size() - cached); }
  };

  std::shared_ptr<GraphExecutor> executor;
  std::shared_ptr<const Tokenizer> tokenizer;
  Options options;
  detail::DecoderForm form;
  std::vector<std::optional<SlotText>> texts;
  ValueMap single, piece;  ///< inputs of runs of one token a slot, and of a piece
  std::vector<GeneratedToken> generated;

  [[nodiscard]] std::int64_t capacity() const { return form.rows - options.piece; }
  /// Scores that count.
  [[nodiscard]] std::int64_t choices() const {
    return tokenizer ? tokenizer->vocabulary_size() : form.vocabulary;
  }
  SlotText& at(std::size_t slot) {
    if (slot < texts.size() && texts[slot]) return *texts[slot];
    throw NotFound(fmt::format("generation: slot {} of {} has no text; admit gives the slot", slot,
                               texts.size()));
  }

  /// Writes the inputs of a run of `count` tokens a slot.
  void fill(ValueMap& inputs, std::int64_t count) {
    auto* token = inputs.at("tokens").tensor().data<std::int64_t>();
    auto* start = inputs.at("starts").tensor().data<std::int64_t>();
    auto* place = inputs.at("places").tensor().data<std::int64_t>();
    std::fill_n(token, form.slots * count, 0);
    for (std::size_t slot = 0; slot < texts.size(); ++slot, token += count) {
      const auto& text = texts[slot];
      start[slot] = text ? std::int64_t(text->cached) : 0;
      place[slot] = 0;
      if (!text || text->ended) continue;
      const std::int64_t taken = std::min(count, text->waiting());
      std::copy_n(text->tokens.begin() + std::ptrdiff_t(text->cached), taken, token);
      place[slot] = taken - 1;
    }
  }

  /// Goes on after a run of `count` tokens a slot.
  void take(const Tensor& logits, std::int64_t count) {
    for (std::size_t slot = 0; slot < texts.size(); ++slot) {
      auto& text = texts[slot];
      if (!text || text->ended) continue;
      text->cached += std::size_t(std::min(count, text->waiting()));
      if (text->waiting() > 0) continue;  // the prompt goes on
      const auto scores =
          logits.span<float>().subspan(slot * std::size_t(form.vocabulary), std::size_t(choices()));
      const TokenId token = next_token(scores, text->sampling, std::int64_t(text->tokens.size()),
                                       text->stops.barred(text->answer().size()));
      text->tokens.push_back(token);
      auto end = text->stops.end(text->answer());
      if (!end && std::int64_t(text->tokens.size()) > capacity()) end = AnswerEnd::capacity;
      text->ended = end.has_value();
      generated.push_back({slot, token, end, scores});
    }
  }
};

NetworkGenerator::NetworkGenerator(std::shared_ptr<GraphExecutor> executor,
                                   std::shared_ptr<const Tokenizer> tokenizer, Options options)
    : state_(std::make_unique<State>()) {
  state_->form = detail::decoder_form(executor->network());
  state_->executor = std::move(executor);
  state_->tokenizer = std::move(tokenizer);
  state_->options = options;
  const auto& form = state_->form;
  if (options.piece < 1 || state_->capacity() < 1) {
    throw ValueError(
        fmt::format("{}: piece is {}, expected 1 to {}, below the rows of the caches, {}", name(),
                    options.piece, form.rows - 1, form.rows));
  }
  if (state_->choices() > form.vocabulary) {
    throw ValueError(fmt::format(
        "{}: the tokenizer has {} ids, but the network scores {}; give the tokenizer of this "
        "network",
        name(), state_->choices(), form.vocabulary));
  }
  state_->texts.resize(std::size_t(form.slots));
  state_->single = detail::decoder_inputs(form, 1, 1);
  state_->piece = detail::decoder_inputs(form, options.piece, 1);
}

NetworkGenerator::~NetworkGenerator() = default;

std::string NetworkGenerator::name() const {
  return fmt::format("generator of network '{}' in {}",
                     printable(state_->executor->network().name()), state_->executor->framework());
}
std::size_t NetworkGenerator::slots() const { return state_->texts.size(); }
std::int64_t NetworkGenerator::capacity() const { return state_->capacity(); }
std::size_t NetworkGenerator::active() const {
  return std::size_t(
      std::ranges::count_if(state_->texts, [](const auto& text) { return text && !text->ended; }));
}
GraphExecutor& NetworkGenerator::executor() { return *state_->executor; }

std::size_t NetworkGenerator::admit(std::span<const TokenId> prompt, const GenerationLimits& limits,
                                    const Sampling& sampling) {
  detail::expect_tokens(prompt, state_->form, "prompt");
  expect_valid(sampling);
  if (std::int64_t(prompt.size()) > capacity()) {
    throw ValueError(
        fmt::format("{}: the prompt has {} tokens, expected at most {}, the capacity of a slot",
                    name(), prompt.size(), capacity()));
  }
  const auto free = std::ranges::find_if(state_->texts, [](const auto& text) { return !text; });
  if (free == state_->texts.end()) {
    throw ValueError(fmt::format("{}: all {} slots have texts; release one", name(), slots()));
  }
  *free = State::SlotText{.tokens = {prompt.begin(), prompt.end()},
                          .prompt = prompt.size(),
                          .cached = 0,
                          .sampling = sampling,
                          .stops = {limits, state_->tokenizer, state_->choices()}};
  return std::size_t(free - state_->texts.begin());
}

const std::vector<GeneratedToken>& NetworkGenerator::step() {
  state_->generated.clear();
  std::int64_t most = 0;
  for (const auto& text : state_->texts) {
    if (text && !text->ended) most = std::max(most, text->waiting());
  }
  if (most == 0) return state_->generated;
  const std::int64_t count = most == 1 ? 1 : state_->options.piece;
  ValueMap& inputs = most == 1 ? state_->single : state_->piece;
  state_->fill(inputs, count);
  state_->take(state_->executor->inference(inputs).at("logits").tensor(), count);
  return state_->generated;
}

void NetworkGenerator::rewind(std::size_t slot, std::int64_t tokens) {
  State::SlotText& text = state_->at(slot);
  const auto length = std::int64_t(text.answer().size());
  if (tokens < 0 || tokens > length) {
    throw ValueError(fmt::format("{}: rewind of slot {} by {} tokens, expected 0 to {}, its answer",
                                 name(), slot, tokens, length));
  }
  if (tokens == 0) return;
  text.tokens.resize(text.tokens.size() - std::size_t(tokens));
  // The last token is read again: its scores choose the next one.
  text.cached = std::min(text.cached, text.tokens.size() - 1);
  text.ended = false;
}

void NetworkGenerator::release(std::size_t slot) {
  (void)state_->at(slot);
  state_->texts[slot].reset();
}

}  // namespace d5
