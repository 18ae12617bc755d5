// SPDX-License-Identifier: Apache-2.0
#include "serving/completions/openai_system.hpp"

#include <fmt/format.h>

#include <random>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/core/trace/trace.hpp"

namespace d5::detail {
namespace {

std::uint64_t fresh_number() {
  std::random_device random;
  return (std::uint64_t(random()) << 32) ^ random();
}

/// Whether a letter behind a blank is one token, as in the usual vocabularies. In a vocabulary of
/// bytes a letter alone is one.
bool is_spaced_letter_token(const Tokenizer* tokenizer) {
  return !tokenizer || tokenizer->encode("a B c").size() == 3;
}

/// Whether some bytes of an answer had no character, so that its text says no more which.
bool has_lost_bytes(std::string_view text) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
  return text.find(kReplacement) != std::string_view::npos;
}

/// A prompt of as many tokens as there are numbers, a letter each; another `salt` gives others.
std::string letters_of(std::span<const std::uint32_t> numbers, std::uint32_t salt, bool spaced) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string text;
  text.reserve(2 * numbers.size());
  for (const std::uint32_t number : numbers) {
    // Source: the finalizer of MurmurHash3 (Appleby): every bit of the salt changes each letter.
    std::uint32_t mixed = number ^ salt;
    mixed = (mixed ^ (mixed >> 16)) * 0x85ebca6bu;
    mixed = (mixed ^ (mixed >> 13)) * 0xc2b2ae35u;
    mixed ^= mixed >> 16;
    if (spaced && !text.empty()) text += ' ';
    text += kLetters[std::size_t((std::uint64_t(mixed) * kLetters.size()) >> 32)];
  }
  return text;
}

}  // namespace

OpenaiSystem::OpenaiSystem(Options options, Prompts& prompts)
    : options_(std::move(options)),
      spaces_letters_(!options_.has_byte_vocabulary &&
                      is_spaced_letter_token(options_.tokenizer.get())),
      prompts_(prompts),
      client_(
          {.url = options_.base + path_of(options_.request.interface),
           .token = options_.token,
           .seconds = options_.seconds},
          [this](std::int64_t id, std::string_view bytes) { hear(id, bytes); },
          [this](std::int64_t id, int status, const std::string& reason) {
            end(id, status, reason);
          }) {}

void OpenaiSystem::load(std::span<const std::int64_t> samples) {
  prompts_.load(samples);
  const std::lock_guard lock(mutex_);
  run_ = fresh_number();
  whole_.clear();
  sessions_.clear();
  account_ = {};
  begun_ns_ = Trace::now_ns();
  busy_before_ = client_.busy_seconds();
}

std::vector<std::string> OpenaiSystem::turns_of(const Query& query) {
  if (query.text) {
    const auto salt = options_.is_fresh ? std::uint32_t(run_) : 0;  // in place of a nonce
    return {letters_of(query.text->prompt, salt, spaces_letters_)};
  }
  std::string text = prompts_.text(query.sample);
  const auto [session, turn] = query.place;
  // What is said in a session is new to no cache.
  if (options_.is_fresh && turn == 0) {  // no two nonces begin alike, as counted numbers would
    RandomStream nonce(run_, stream_of("nonce"), std::uint32_t(number_++));
    const std::uint32_t high = nonce.bits();
    text = fmt::format("{:08x}{:08x} {}", high, nonce.bits(), text);
  }
  if (session < 0) return {text};
  const std::lock_guard lock(mutex_);
  if (turn == 0) sessions_[session].clear();
  std::vector<std::string> turns = sessions_[session];
  turns.push_back(std::move(text));
  return turns;
}

void OpenaiSystem::issue(std::span<const Query> queries) {
  for (const Query& query : queries) {
    Answer answer{.run = run_, .turns = turns_of(query), .place = query.place};
    CompletionRequest request = options_.request;
    if (query.text) {
      request.most_tokens = query.text->answer_tokens;
      answer.prompt_tokens = std::int64_t(query.text->prompt.size());
      answer.shared_tokens = query.text->shared_tokens;
    }
    answer.most_tokens = request.most_tokens;
    std::string body = body_of(request, answer.turns);
    {
      const std::lock_guard lock(mutex_);
      under_way_[query.id] = std::move(answer);
    }
    client_.ask(query.id, std::move(body));
  }
}

/// References stay valid while other answers are added; only the client's thread removes them.
OpenaiSystem::Answer& OpenaiSystem::at(std::int64_t id) {
  const std::lock_guard lock(mutex_);
  return under_way_.at(id);
}

void OpenaiSystem::hear(std::int64_t id, std::string_view bytes) {
  Answer& answer = at(id);
  answer.stream.add(bytes, [&](const CompletionPiece& piece) {
    answer.tokens += piece.tokens;
    progress({{.id = id, .tokens = piece.tokens, .kind = piece.kind}});
  });
}

void OpenaiSystem::end(std::int64_t id, int status, const std::string& reason) {
  constexpr int kRefused = 300;
  QueryAnswer result{.id = id};
  std::string fault = reason;
  Answer answer;
  {
    const std::lock_guard lock(mutex_);
    answer = std::move(under_way_.extract(id).mapped());
    if (status >= kRefused && answer.run == run_) ++account_.refusals[status];
  }
  if (status >= kRefused) fault = fmt::format("HTTP {}: {}", status, refusal_words(reason));
  try {
    if (fault.empty()) answer.stream.end();
  } catch (const Error& error) {
    fault = error.what();
  }
  const std::string text = answer.stream.text();
  if (fault.empty()) {
    result.bytes = std::as_bytes(std::span(text));
    if (const auto& usage = answer.stream.usage()) result.tokens = usage->completion;
    const std::lock_guard lock(mutex_);
    if (answer.run == run_) keep(std::move(answer));
  } else {
    result.status = Status::failed;
    result.reason = fault;
  }
  complete({result});
}

void OpenaiSystem::keep(Answer answer) {
  if (answer.place.session >= 0) {
    auto& said = sessions_[answer.place.session];
    said = answer.turns;
    said.push_back(answer.stream.content());
  }
  whole_.push_back(std::move(answer));
}

SystemReport OpenaiSystem::report() {
  const std::lock_guard lock(mutex_);
  TokenAccount account = account_;
  account.expects_fresh = options_.is_fresh && sessions_.empty();
  account.whole_answers = std::int64_t(whole_.size());
  bool all_have_usage = !whole_.empty(), all_have_text = true;
  CompletionUsage usage;
  std::int64_t pieces = 0, by_tokenizer = 0, prompts = 0, drawn = 0;
  for (const Answer& answer : whole_) {
    all_have_usage = all_have_usage && answer.stream.usage();
    if (const auto& one = answer.stream.usage()) {
      usage.prompt += one->prompt;
      usage.completion += one->completion;
      usage.cached += one->cached;
    }
    pieces += answer.tokens;
    const auto& its = answer.stream.usage();
    account.add_answer(its ? std::optional(its->completion) : std::nullopt, answer.tokens,
                       answer.most_tokens);
    account.garbled += answer.stream.is_garbled();
    drawn += answer.prompt_tokens;
    account.shared += answer.shared_tokens;
    if (!options_.tokenizer) continue;
    all_have_text = all_have_text && !has_lost_bytes(answer.stream.text());
    by_tokenizer += std::int64_t(options_.tokenizer->encode(answer.stream.text()).size());
    for (const std::string& turn : answer.turns) {
      prompts += std::int64_t(options_.tokenizer->encode(turn).size());
    }
  }
  account.cached = usage.cached;
  account.has_template = options_.request.interface == CompletionRequest::Interface::chat;
  if (drawn > 0) {
    account.prompts.by_trace = drawn;
  } else if (options_.request.ignore_eos) {
    account.asked_tokens = options_.request.most_tokens;
  }
  if (!whole_.empty()) account.answers.by_pieces = pieces;
  if (all_have_usage) {
    account.answers.by_usage = usage.completion;
    account.prompts.by_usage = usage.prompt;
  }
  if (options_.tokenizer && !whole_.empty()) {
    if (all_have_text) account.answers.by_tokenizer = by_tokenizer;
    account.prompts.by_tokenizer = prompts;
  }
  account.run_seconds = 1e-9 * double(Trace::now_ns() - begun_ns_);
  account.busy_seconds = client_.busy_seconds() - busy_before_;
  SystemReport report = account.report();
  report.conditions["prompts"] = setting(options_.is_fresh ? "fresh" : "warm");
  return report;
}

}  // namespace d5::detail
