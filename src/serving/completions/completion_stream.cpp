// SPDX-License-Identifier: Apache-2.0
#include "serving/completions/completion_stream.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/errors/utf8.hpp"
#include "core/parsing/json_depth.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

using nlohmann::json;

constexpr std::size_t kShown = 200;  // bytes of a foreign text in a message
constexpr std::int64_t kMostCounted = std::int64_t{1} << 31;  // tokens of a text; sums of them fit

/// The text with U+FFFD for each byte that is not UTF-8: a server that cuts a character in two
/// sends such bytes. Returns whether there was one.
bool mend(std::string& text) {
  std::string mended;
  std::size_t bad = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t length = first_character(rest).length;
    mended += length > 0 ? std::string(rest.substr(0, length)) : "\xEF\xBF\xBD";
    bad += length == 0;
    rest.remove_prefix(std::max<std::size_t>(length, 1));
  }
  if (bad > 0) text = std::move(mended);
  return bad > 0;
}

/// A text member; empty if it is missing, null or no text.
std::string text_at(const json& object, const char* name) {
  const auto place = object.find(name);
  return place != object.end() && place->is_string() ? place->get<std::string>() : std::string();
}

std::int64_t count_at(const json& object, const char* name) {
  const auto place = object.find(name);
  if (place == object.end() || place->is_null()) return 0;
  const std::int64_t count = place->is_number_integer() ? place->get<std::int64_t>() : -1;
  if (count < 0 || count > kMostCounted) {
    throw FormatError(fmt::format("usage: '{}' is {}, expected a number of tokens, {} at most",
                                  name, printable(place->dump().substr(0, kShown)), kMostCounted));
  }
  return count;
}

std::optional<CompletionUsage> usage_in(const json& event) {
  const auto place = event.find("usage");
  if (place == event.end() || !place->is_object()) return std::nullopt;
  CompletionUsage usage{.prompt = count_at(*place, "prompt_tokens"),
                        .completion = count_at(*place, "completion_tokens")};
  const auto details = place->find("prompt_tokens_details");
  if (details != place->end() && details->is_object()) {
    usage.cached = count_at(*details, "cached_tokens");
  }
  return usage;
}

/// The words of an error in an answer or an event; empty: it has none.
std::string error_words(const json& object) {
  const auto place = object.is_object() ? object.find("error") : object.end();
  if (place == object.end() || place->is_null()) return {};
  if (place->is_string()) return place->get<std::string>();
  const std::string message = place->is_object() ? text_at(*place, "message") : std::string();
  return message.empty() ? place->dump().substr(0, kShown) : message;
}

/// Names and arguments of calls of tools.
std::string tool_text(const json& delta) {
  std::string text;
  const auto calls = delta.find("tool_calls");
  if (calls == delta.end() || !calls->is_array()) return text;
  for (const json& call : *calls) {
    const auto function = call.find("function");
    if (function == call.end() || !function->is_object()) continue;
    text += text_at(*function, "name") + text_at(*function, "arguments");
  }
  return text;
}

/// The only choice of an event; null if it has none, as an event with the usage alone.
const json* choice_in(const json& event) {
  const auto choices = event.find("choices");
  if (choices == event.end() || !choices->is_array()) {
    throw FormatError(
        fmt::format("an event has no 'choices': {}", printable(event.dump().substr(0, kShown))));
  }
  if (choices->empty()) return nullptr;
  const json& choice = choices->front();
  const auto index = choice.find("index");
  const bool is_other = index != choice.end() && index->is_number_integer() && *index != 0;
  if (choices->size() > 1 || is_other) {
    throw FormatError("the answer has several choices, one was asked for");
  }
  return &choice;
}

}  // namespace

std::string refusal_words(std::string_view body) {
  const std::string beginning(body.substr(0, kShown));
  try {
    expect_shallow_json(body, "a refusal");
  } catch (const FormatError&) {
    return beginning;
  }
  const json parsed = json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object()) return beginning;
  if (std::string words = error_words(parsed); !words.empty()) return words;
  for (const char* name : {"message", "detail"}) {
    if (std::string words = text_at(parsed, name); !words.empty()) return words;
  }
  return beginning;
}

void CompletionStream::add(std::string_view bytes, const Hear& hear) {
  lines_.add(bytes, [&](const std::string&, const std::string& data) { event(data, hear); });
}

void CompletionStream::event(std::string data, const Hear& hear) {
  if (done_) throw FormatError("the stream goes on after [DONE]");
  if (data == "[DONE]") {
    done_ = true;
    return;
  }
  garbled_ = mend(data) || garbled_;
  expect_shallow_json(data, "an event");
  const json event = json::parse(data, nullptr, /*allow_exceptions=*/false);
  if (!event.is_object()) {
    throw FormatError(
        fmt::format("an event is no JSON object: {}", printable(data.substr(0, kShown))));
  }
  if (const std::string words = error_words(event); !words.empty()) {
    throw Error("the server says in its answer: " + printable_message(words));
  }
  const std::int64_t before = usage_ ? usage_->completion : 0;
  const auto usage = usage_in(event);
  if (usage) usage_ = usage;
  const json* choice = choice_in(event);
  if (!choice) return;
  finished_ = finished_ || !text_at(*choice, "finish_reason").empty();
  const auto delta = choice->find("delta");
  const json& from = delta != choice->end() && delta->is_object() ? *delta : *choice;

  std::int64_t counted = usage ? usage->completion - before : -1;
  bool is_empty = true;
  const auto tell = [&](PieceKind kind, const std::string& text) {
    if (text.empty()) return;
    is_empty = false;
    ++pieces_;
    text_ += text;
    if (kind == PieceKind::content) content_ += text;
    const bool is_counted = counted > 0 || (counted == 0 && before > 0);
    hear({.kind = kind, .text = text, .tokens = is_counted ? counted : 1});
    counted = -1;  // those of the event are in its first piece
  };
  const std::string reasoning = text_at(from, "reasoning_content");
  tell(PieceKind::reasoning, reasoning.empty() ? text_at(from, "reasoning") : reasoning);
  tell(PieceKind::content, text_at(from, delta != choice->end() ? "content" : "text"));
  tell(PieceKind::tool, tool_text(from));
  if (is_empty) hear({.kind = PieceKind::role});
}

void CompletionStream::end() const {
  if (done_ || finished_) return;
  throw FormatError(fmt::format(
      "the answer broke off after {} pieces: neither 'finish_reason' nor [DONE] came", pieces_));
}

}  // namespace d5::detail
