// SPDX-License-Identifier: Apache-2.0
#include "serving/completions/completion_stream.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "serving/completions/completion_request.hpp"

namespace d5 {
namespace {

using detail::CompletionPiece;
using detail::CompletionStream;

struct Heard {
  PieceKind kind;
  std::string text;
  std::int64_t tokens;
  bool operator==(const Heard&) const = default;
};

std::string event(const std::string& choice, const std::string& more = "") {
  return "data: {\"choices\": [" + choice + "]" + more + "}\n\n";
}
std::string delta(const std::string& fields, const std::string& more = "") {
  return event("{\"index\": 0, \"delta\": {" + fields + "}}", more);
}
const std::string kEnd = event(R"({"index": 0, "delta": {}, "finish_reason": "stop"})");
const std::string kDone = "data: [DONE]\n\n";

/// A stream with everything that servers send.
std::string whole_stream() {
  return ": ping\n\n" + delta(R"("role": "assistant", "content": "")") +
         delta(R"("reasoning_content": "hm")") + "event: message\r\nid: 7\r\n" +
         delta(R"("content": "Gr\u00fc")") + ": keep-alive\n" + delta(R"("content": null)") +
         delta("\"content\": \"\xC3\x9F dich \xF0\x9F\x99\x82\"") +
         delta(R"("tool_calls": [{"function": {"name": "f", "arguments": "{}"}}])") + kEnd +
         "data: {\"choices\": [],\ndata:  \"usage\": {\"prompt_tokens\": 9, \"completion_tokens\": "
         "4, \"prompt_tokens_details\": {\"cached_tokens\": 2}}}\n\n" +
         kDone;
}

const std::vector<Heard> kWhole = {{PieceKind::role, "", 0},
                                   {PieceKind::reasoning, "hm", 1},
                                   {PieceKind::content, "Gr\u00fc", 1},
                                   {PieceKind::role, "", 0},
                                   {PieceKind::content, "\u00df dich \U0001f642", 1},
                                   {PieceKind::tool, "f{}", 1},
                                   {PieceKind::role, "", 0}};  // the end has no text

std::vector<Heard> heard_in(CompletionStream& stream, const std::vector<std::string>& pieces) {
  std::vector<Heard> heard;
  for (const std::string& piece : pieces) {
    stream.add(piece, [&](const CompletionPiece& one) {
      heard.push_back({one.kind, std::string(one.text), one.tokens});
    });
  }
  return heard;
}
std::vector<Heard> heard_in(const std::string& text) {
  CompletionStream stream;
  auto heard = heard_in(stream, {text});
  stream.end();
  return heard;
}

std::string fault_of(const std::string& text) {
  try {
    (void)heard_in(text);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("a stream says the same wherever it is cut") {
  const std::string text = whole_stream();
  CHECK(heard_in(text) == kWhole);
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    CompletionStream stream;
    REQUIRE(heard_in(stream, {text.substr(0, cut), text.substr(cut)}) == kWhole);
    REQUIRE(stream.usage());
  }
  CompletionStream stream;
  std::vector<std::string> bytes;
  for (const char byte : text) bytes.emplace_back(1, byte);
  CHECK(heard_in(stream, bytes) == kWhole);
  stream.end();
  CHECK(stream.text() == "hmGr\u00fc\u00df dich \U0001f642f{}");
  CHECK(stream.pieces() == 4);
  CHECK_FALSE(stream.is_garbled());
  CHECK(stream.usage()->prompt == 9);
  CHECK(stream.usage()->completion == 4);
  CHECK(stream.usage()->cached == 2);
}

TEST_CASE("completions have a text in place of a delta") {
  const std::string text = event(R"({"index": 0, "text": "a"})") +
                           event(R"({"index": 0, "text": "b", "finish_reason": "length"})");
  CHECK(heard_in(text) ==
        std::vector<Heard>{{PieceKind::content, "a", 1}, {PieceKind::content, "b", 1}});
}

TEST_CASE("usage in each event gives the tokens of its piece") {
  const auto usage = [](int tokens) {
    return ", \"usage\": {\"completion_tokens\": " + std::to_string(tokens) + "}";
  };
  const std::string text =
      delta("\"content\": \"a\"", usage(1)) + delta("\"content\": \"bc\"", usage(4)) + kEnd + kDone;
  CHECK(heard_in(text) == std::vector<Heard>{{PieceKind::content, "a", 1},
                                             {PieceKind::content, "bc", 3},
                                             {PieceKind::role, "", 0}});
  // "bc" was counted, and held back because a stop text could begin so.
  CHECK(heard_in(delta("\"content\": \"a\"", usage(3)) + delta("\"content\": \"bc\"", usage(3)) +
                 kEnd + kDone) == std::vector<Heard>{{PieceKind::content, "a", 3},
                                                     {PieceKind::content, "bc", 0},
                                                     {PieceKind::role, "", 0}});
}

TEST_CASE("an end without [DONE] is one with a finish_reason, and none without both") {
  const std::string begin = delta(R"("content": "a")");
  CHECK(fault_of(begin + kEnd).empty());
  CHECK(fault_of(begin + kDone).empty());
  CHECK_THAT(fault_of(begin), Catch::Contains("broke off after 1 pieces"));
  CHECK_THAT(fault_of(""), Catch::Contains("broke off after 0 pieces"));
  CHECK_THAT(fault_of(begin + kDone + begin), Catch::Contains("goes on after [DONE]"));
}

TEST_CASE("what is no such stream is refused with its words") {
  CHECK_THAT(fault_of("data: {\"error\": {\"message\": \"out of memory\"}}\n\n"),
             Catch::Contains("the server says in its answer: out of memory"));
  CHECK_THAT(fault_of(delta(R"("content": "a")") + "data: {\"error\": \"gone\"}\n\n"),
             Catch::Contains("gone"));
  CHECK_THAT(fault_of("data: hello\n\n"), Catch::Contains("no JSON object: hello"));
  CHECK_THAT(fault_of("data: []\n\n"), Catch::Contains("no JSON object"));
  CHECK_THAT(fault_of("data: {}\n\n"), Catch::Contains("no 'choices'"));
  CHECK_THAT(fault_of(event("{}, {}")), Catch::Contains("several choices"));
  CHECK_THAT(fault_of(event(R"({"index": 1, "delta": {"content": "a"}})")),
             Catch::Contains("several choices"));
  CHECK_THAT(fault_of("data: {\"choices\": [], \"usage\": {\"prompt_tokens\": -1}}\n\n"),
             Catch::Contains("'prompt_tokens' is -1, expected a number of tokens"));
  CHECK_THAT(fault_of("data: {\"choices\": [], \"usage\": {\"completion_tokens\": \"x\"}}\n\n"),
             Catch::Contains("'completion_tokens'"));
  CHECK_THAT(fault_of("data: {\"choices\": [], \"usage\": {\"completion_tokens\": "
                      "4611686018427387914}}\n\n"),  // 40 of them are 400 in 64 bits
             Catch::Contains("'completion_tokens' is 4611686018427387914, expected a number of "
                             "tokens, 2147483648 at most"));
  CHECK_THAT(fault_of("data: " + std::string(200, '[') + "\n\n"), Catch::Contains("100"));
  CHECK_THAT(fault_of(R"({"choices": [{"message": {"content": "not streamed"}}]})"),
             Catch::Contains("broke off"));
}

TEST_CASE("a character that is cut in two events is marked, and its text goes on") {
  const std::string character = "\u00fc";
  CompletionStream stream;
  (void)heard_in(stream, {delta("\"content\": \"" + character.substr(0, 1) + "\""),
                          delta("\"content\": \"" + character.substr(1) + "\""), kEnd});
  CHECK(stream.is_garbled());
  CHECK(stream.text() == "\uFFFD\uFFFD");
  CHECK(stream.pieces() == 2);
}

TEST_CASE("a refusal's words are found in the bodies that servers send") {
  CHECK(detail::refusal_words(R"({"error": {"message": "too many", "code": 429}})") == "too many");
  CHECK(detail::refusal_words(R"({"error": "busy"})") == "busy");
  CHECK(detail::refusal_words(R"({"detail": "no such model"})") == "no such model");
  CHECK(detail::refusal_words("<html>") == "<html>");
  CHECK(detail::refusal_words(std::string(1000, '[')) == std::string(200, '['));
}

TEST_CASE("an address is the server's and the model's name, and another one is refused") {
  using detail::completion_address;
  for (const char* text : {"http://h:80/meta/llama", "http://h:80/v1/meta/llama"}) {
    CHECK(completion_address(text).base == "http://h:80/v1");
    CHECK(completion_address(text).model == "meta/llama");
  }
  for (const char* text : {"https://h", "https://h/", "https://h/v1", "https://h/v1/"}) {
    CHECK(completion_address(text).base == "https://h/v1");
    CHECK(completion_address(text).model.empty());
  }
  for (const char* text : {"", "h:80/m", "http:///m", "ftp://h/m"}) {
    CHECK_THROWS_AS(completion_address(text), ValueError);
  }
}

}  // namespace d5
