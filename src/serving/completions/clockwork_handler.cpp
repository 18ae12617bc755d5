// SPDX-License-Identifier: Apache-2.0
#include "serving/completions/clockwork_handler.hpp"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "core/parsing/json_depth.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/trace/trace.hpp"
#include "d5/evaluation/load/load_clock.hpp"

namespace d5::detail {
namespace {

using nlohmann::json;

std::string event_of(const json& data) { return "data: " + data.dump() + "\n\n"; }

/// An answer on its way, event by event.
struct Ticking {
  ClockworkAnswer answer;
  bool is_chat = true, sends_usage = false;
  std::int64_t prompt_tokens = 0, tokens = 0;  ///< tokens: those sent
  std::int64_t begun = Trace::now_ns();
  std::size_t told = 0;
  std::shared_ptr<LoadClock> clock = {};  ///< belongs to the sending thread

  [[nodiscard]] json chunk(json choices) const {
    return {{"id", "tick"},
            {"object", is_chat ? "chat.completion.chunk" : "text_completion"},
            {"created", 0},
            {"model", "clockwork"},
            {"choices", std::move(choices)}};
  }
  [[nodiscard]] json choice(const ClockworkPiece& piece) const {
    const std::string text = clockwork_text(piece);
    if (!is_chat) return {{"index", 0}, {"text", text}, {"finish_reason", nullptr}};
    const char* field = piece.kind == PieceKind::reasoning ? "reasoning_content" : "content";
    json delta{{field, text}};
    if (piece.kind == PieceKind::role) delta["role"] = "assistant";
    return {{"index", 0}, {"delta", delta}, {"finish_reason", nullptr}};
  }
  [[nodiscard]] std::string last_events() const {
    json end{{"index", 0}, {"finish_reason", "stop"}};
    end[is_chat ? "delta" : "text"] = is_chat ? json::object() : json("");
    std::string events = event_of(chunk(json::array({end})));
    if (sends_usage) {
      json usage = chunk(json::array());
      usage["usage"] = {{"prompt_tokens", prompt_tokens},
                        {"completion_tokens", tokens},
                        {"total_tokens", prompt_tokens + tokens}};
      events += event_of(usage);
    }
    return events + "data: [DONE]\n\n";
  }

  /// The next event, at its time; nothing after the last.
  std::optional<std::string> next() {
    if (!clock) clock = monotonic_load_clock();  // sets the timer slack of this thread
    if (told > answer.pieces.size()) return std::nullopt;
    if (told == answer.pieces.size()) {
      ++told;
      return answer.fails ? std::optional<std::string>() : last_events();
    }
    const ClockworkPiece& piece = answer.pieces[told++];
    while (clock->now() < begun + piece.at) clock->wait_until(begun + piece.at);
    tokens += piece.tokens;
    return event_of(chunk(json::array({choice(piece)})));
  }
};

bool is_on(const json& asked, const char* name) {
  const auto place = asked.find(name);
  return place != asked.end() && place->is_boolean() && place->get<bool>();
}

/// Bytes of a prompt: a text, or a list of messages or of parts.
std::int64_t bytes_in(const json& prompt) {
  if (prompt.is_string()) return std::int64_t(prompt.get_ref<const std::string&>().size());
  std::int64_t bytes = 0;
  for (const char* name : {"content", "text"}) {
    if (prompt.is_object() && prompt.contains(name)) bytes += bytes_in(prompt[name]);
  }
  if (prompt.is_array()) {
    for (const json& one : prompt) bytes += bytes_in(one);
  }
  return bytes;
}

std::int64_t integer_in(const json& asked, const char* name, std::int64_t usual) {
  const auto place = asked.find(name);
  return place != asked.end() && place->is_number_integer() ? place->get<std::int64_t>() : usual;
}

}  // namespace

ClockworkHandler::ClockworkHandler(const ClockworkOptions& options) : options_(options) {
  if (options.slots == 0) return;
  throw ValueError("clockwork server: 'slots' is given, expected 0: any number at a time");
}

std::optional<HttpResponse> ClockworkHandler::refuse(HttpRequest&) { return std::nullopt; }

HttpResponse ClockworkHandler::answer(const HttpRequest& request) {
  if (request.path == "/health") return HttpResponse::json("{}");
  if (request.path == "/v1/models") {
    return HttpResponse::json(R"({"object": "list", "data": [{"id": "clockwork"}]})");
  }
  const bool is_chat = request.path == "/v1/chat/completions";
  if (!is_chat && request.path != "/v1/completions") {
    return HttpResponse::problem(404,
                                 "there are /v1/models, /v1/chat/completions, /v1/completions");
  }
  return completion(request, is_chat);
}

HttpResponse ClockworkHandler::completion(const HttpRequest& request, bool is_chat) {
  expect_shallow_json(request.body, "the request");
  const json asked = json::parse(request.body, nullptr, /*allow_exceptions=*/false);
  if (!asked.is_object() || !is_on(asked, "stream")) {
    return HttpResponse::problem(422, "expected a JSON object with \"stream\": true");
  }
  ClockworkOptions options = options_;
  const std::int64_t most =
      integer_in(asked, "max_tokens", integer_in(asked, "max_completion_tokens", options.tokens));
  const bool goes_on = is_on(asked, "ignore_eos");
  options.tokens = std::max<std::int64_t>(1, goes_on ? most : std::min(options.tokens, most));
  auto ticking = std::make_shared<Ticking>();
  ticking->answer = clockwork_answer(options, number_++);
  ticking->is_chat = is_chat;
  const auto options_of_stream = asked.find("stream_options");
  ticking->sends_usage =
      options_of_stream != asked.end() && is_on(*options_of_stream, "include_usage");
  const auto prompt = asked.find(is_chat ? "messages" : "prompt");
  if (prompt != asked.end()) ticking->prompt_tokens = bytes_in(*prompt);
  HttpResponse response;
  response.headers.add("Content-Type", "text/event-stream");
  response.stream = [ticking] { return ticking->next(); };
  return response;
}

}  // namespace d5::detail
