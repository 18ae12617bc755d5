// SPDX-License-Identifier: Apache-2.0
// OpenAI's interface over sockets: answers, streams, refusals, and the tokens of the same generator
// in this process.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <thread>

#include "d5/serving/api/access_tokens.hpp"
#include "tests/serving/served_generators.hpp"

namespace d5 {
namespace {

using Catch::Contains;
using nlohmann::json;
using testing::events_in;
using testing::HttpAnswer;
using testing::RawClient;
using testing::ServedGenerators;

json text_request(const json& more = json::object()) {
  json body{{"model", "clockwork"}, {"prompt", "abcd"}, {"max_tokens", 3}};
  body.update(more);
  return body;
}
json chat_request(const json& more = json::object()) {
  json body{{"model", "clockwork"},
            {"messages", {{{"role", "user"}, {"content", "abcd"}}}},
            {"max_tokens", 3}};
  body.update(more);
  return body;
}

/// Fails unless it is OpenAI's error.
json completion_error(const HttpAnswer& answer) {
  INFO(answer.head << answer.body);
  REQUIRE_THAT(answer.head, Contains("application/json"));
  const json body = answer.json();
  REQUIRE(body.size() == 1);
  for (const char* member : {"message", "type", "param", "code"}) {
    REQUIRE(body.at("error").contains(member));
  }
  return body.at("error");
}

TEST_CASE("a completion is answered whole, with its reason and its usage") {
  ServedGenerators served;
  const json text = served.complete(text_request()).json();
  CHECK(text["object"] == "text_completion");
  CHECK(text["model"] == "clockwork");
  CHECK(text["choices"].size() == 1);
  CHECK(text["choices"][0]["text"] == " tick tick tick");
  CHECK(text["choices"][0]["finish_reason"] == "length");
  CHECK(text["usage"] == json{{"prompt_tokens", 4}, {"completion_tokens", 3}, {"total_tokens", 7}});
  const json chat = served.chat(chat_request({{"max_tokens", nullptr}})).json();
  CHECK(chat["object"] == "chat.completion");
  CHECK(chat["choices"][0]["message"]["role"] == "assistant");
  CHECK(chat["choices"][0]["message"]["content"].get<std::string>().size() == 20 * 5);
  CHECK(chat["choices"][0]["finish_reason"] == "stop");  // after its own 20 tokens
  CHECK(served.chat(chat_request({{"max_completion_tokens", 30}, {"ignore_eos", true}}))
            .json()["usage"]["completion_tokens"] == 30);
  CHECK(served.chat(chat_request({{"max_tokens", 30}, {"min_tokens", 25}}))
            .json()["usage"]["completion_tokens"] == 25);
}

TEST_CASE("a stream tells role, pieces, reason, and usage where it is asked for") {
  ServedGenerators served("clockwork:first=0.002:gap=0.001:reasoning=1:role=0.001");
  const auto chat = events_in(
      served.chat(chat_request({{"stream", true}, {"stream_options", {{"include_usage", true}}}})));
  REQUIRE(chat.size() == 6);
  CHECK(chat[0]["object"] == "chat.completion.chunk");
  CHECK(chat[0]["choices"][0]["delta"] == json{{"role", "assistant"}, {"content", ""}});
  CHECK(chat[1]["choices"][0]["delta"] == json{{"reasoning_content", " tick"}});
  CHECK(chat[2]["choices"][0]["delta"] == json{{"content", " tick"}});
  CHECK(chat[3]["choices"][0]["finish_reason"].is_null());
  CHECK(chat[4]["choices"][0]["delta"] == json::object());
  CHECK(chat[4]["choices"][0]["finish_reason"] == "length");
  CHECK(chat[4]["usage"].is_null());
  CHECK(chat[5]["choices"].empty());
  CHECK(chat[5]["usage"]["completion_tokens"] == 3);
  for (const json& event : chat) CHECK(event["id"] == chat[0]["id"]);

  const auto text = events_in(served.complete(text_request({{"stream", true}})));
  REQUIRE(text.size() == 4);
  CHECK(text[0]["choices"][0]["text"] == " tick");
  CHECK_FALSE(text[0].contains("usage"));
  CHECK(text[3]["choices"][0]["finish_reason"] == "length");
  const auto each = events_in(served.complete(text_request(
      {{"stream", true},
       {"stream_options", {{"include_usage", true}, {"continuous_usage_stats", true}}}})));
  CHECK(each[1]["usage"]["completion_tokens"] == 2);
}

TEST_CASE("text over a socket is that of the generator in this process") {
  ServedGenerators served;
  const std::string prompt = "Hel";
  const auto asked = [&](const json& more) {
    json body{{"model", "vivid"}, {"prompt", prompt}, {"max_tokens", 24}, {"temperature", 0}};
    body.update(more);
    const HttpAnswer answer = served.complete(body);
    INFO(answer.body);
    REQUIRE(answer.status == 200);
    return answer.json();
  };
  const auto text_of = [&](const GenerationLimits& limits, const Sampling& sampling) {
    NetworkGenerator generator(make_executor(test::vivid_decoder(2)),
                               tokenizers().at("bytes").make(), ServedGenerators::vivid_options());
    const std::vector<TokenId> ids{prompt.begin(), prompt.end()};
    std::string text;
    const auto answers = test::answers_of(generator, {ids}, limits, sampling);
    for (const TokenId id : answers[0]) text += char(id);
    return text;
  };
  // JSON has U+FFFD for bytes that are not UTF-8.
  const auto as_json = [](const std::string& text) {
    return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace));
  };
  const json greedy = asked(json::object());
  const std::string expected = text_of({.most_tokens = 24}, {});
  CHECK(greedy["choices"][0]["text"] == as_json(expected));
  CHECK(greedy["usage"]["completion_tokens"] == 24);
  CHECK(asked({{"prompt", {72, 101, 108}}})["choices"] == greedy["choices"]);
  const json drawn{{"temperature", 0.8}, {"top_p", 0.9}, {"seed", 7}};
  CHECK(asked(drawn)["choices"][0]["text"] ==
        as_json(text_of({.most_tokens = 24}, {.temperature = 0.8, .top_p = 0.9, .seed = 7})));
  CHECK(asked(drawn)["choices"] == asked(drawn)["choices"]);
}

TEST_CASE("an answer ends before its stop text, streamed and whole") {
  ServedGenerators served;
  json body{{"model", "vivid"}, {"prompt", "Hel"}, {"max_tokens", 24}, {"temperature", 0}};
  const std::string all = served.complete(body).json()["choices"][0]["text"];
  const auto letter = std::ranges::find_if(  // one whose bytes are known
      all.begin() + 1, all.end(), [](char c) { return c > 0; });
  REQUIRE(letter != all.end());
  const std::string stop(1, *letter);
  body["stop"] = json::array({"never in it", stop});
  const json cut = served.complete(body).json();
  CHECK(cut["choices"][0]["text"] == all.substr(0, all.find(stop)));
  CHECK(cut["choices"][0]["finish_reason"] == "stop");
  body["stream"] = true;
  std::string streamed;
  for (const json& event : events_in(served.complete(body))) {
    streamed += event["choices"][0]["text"];
  }
  CHECK(streamed == all.substr(0, all.find(stop)));
}

TEST_CASE("wrong requests get OpenAI's error, with the member") {
  ServedGenerators served;
  struct Wrong {
    json more;
    std::string param, words;
    int status = 400;
  };
  const std::vector<Wrong> wrong{
      {{{"model", "clockwerk"}}, "model", "did you mean clockwork", 404},
      {{{"model", nullptr}}, "model", "missing"},
      {{{"max_tokens", 0}}, "max_tokens", "'max_tokens' is 0, expected a whole number from 1"},
      {{{"max_tokens", 1.5}}, "max_tokens", "1.5"},
      {{{"max_tokens", 18446744073709551615u}}, "max_tokens", "18446744073709551615"},
      {{{"temperature", -1}}, "temperature", "from 0 to 100"},
      {{{"top_p", 0}}, "top_p", "above 0"},
      {{{"seed", "x"}}, "seed", "\"x\""},
      {{{"stop", ""}}, "stop", "at most 16 texts"},
      {{{"stop", json::array({1})}}, "stop", "texts"},
      {{{"stop", "tick"}}, "", "no stop texts"},
      {{{"stream", 1}}, "stream", "true or false"},
      {{{"stream_options", json::object()}}, "stream_options", "without"},
      {{{"stream", true}, {"stream_options", {{"include_usages", true}}}},
       "stream_options.include_usages",
       "did you mean include_usage"},
      {{{"n", 2}}, "n", "expected 1"},
      {{{"logprobs", 5}}, "logprobs", "not supported"},
      {{{"temprature", 1}}, "temprature", "did you mean temperature"},
  };
  for (const Wrong& one : wrong) {
    CAPTURE(one.more);
    const HttpAnswer answer = served.complete(text_request(one.more));
    CHECK(answer.status == one.status);
    const json error = completion_error(answer);
    CHECK_THAT(error["message"].get<std::string>(), Contains(one.words));
    CHECK(error["param"] == (one.param.empty() ? json(nullptr) : json(one.param)));
    CHECK(error["type"] == "invalid_request_error");
  }
  const std::vector<std::pair<json, std::string>> prompts{
      {"", "no tokens"},           {json::array(), "no tokens"},
      {{1, 2.5}, "tokens from 0"}, {{1, 300}, "tokens from 0 to 257"},
      {{"a", "b"}, "tokens"},      {{{"a", 1}}, "one text"},
      {nullptr, "missing"},        {std::string(300'000, 'a'), "300000 tokens, expected at most"}};
  for (const auto& [prompt, words] : prompts) {
    const HttpAnswer answer = served.complete(text_request({{"prompt", prompt}}));
    CHECK(answer.status == 400);
    CHECK_THAT(completion_error(answer)["message"].get<std::string>(), Contains(words));
  }
}

TEST_CASE("wrong chats are refused at their message") {
  ServedGenerators served;
  const std::vector<std::tuple<json, std::string, std::string>> wrong{
      {json::array(), "messages", "one or more"},
      {"Hello", "messages", "a list"},
      {json::array({1}), "messages[0]", "an object"},
      {json::array({{{"role", "robot"}, {"content", "x"}}}), "messages[0].role", "\"system\""},
      {json::array({{{"role", "user"}}}), "messages[0].content", "missing"},
      {json::array({{{"role", "user"}, {"content", {{{"type", "image_url"}}}}}}),
       "messages[0].content[0].type", "images"},
      {json::array({{{"role", "user"}, {"content", "x"}, {"nmae", "y"}}}), "messages[0].nmae",
       "unknown"}};
  for (const auto& [messages, param, words] : wrong) {
    CAPTURE(messages);
    const HttpAnswer answer = served.chat(chat_request({{"messages", messages}}));
    CHECK(answer.status == 400);
    CHECK(completion_error(answer)["param"] == param);
    CHECK_THAT(completion_error(answer)["message"].get<std::string>(), Contains(words));
  }
  const json parts = {{{"type", "text"}, {"text", "ab"}}, {{"type", "text"}, {"text", "c"}}};
  const json messages = {{{"role", "developer"}, {"content", "de"}, {"refusal", nullptr}},
                         {{"role", "user"}, {"content", parts}}};
  CHECK(served.chat(chat_request({{"messages", messages}})).json()["usage"]["prompt_tokens"] ==
        2 + 2 + 3);  // "de", an empty line, "abc"
}

TEST_CASE("errors before a route have OpenAI's form, too") {
  ServedGenerators served;
  auto& asked = served.asked;
  CHECK(asked.ask("POST", "/v1/completions", "{").status == 400);
  CHECK_THAT(
      completion_error(asked.ask("POST", "/v1/completions", "{"))["message"].get<std::string>(),
      Contains("no JSON object"));
  CHECK(asked.ask("POST", "/v1/completions", std::string(200, '[')).status == 400);
  CHECK(completion_error(asked.ask("GET", "/v1/chat/completions"))["type"] ==
        "invalid_request_error");
  CHECK(asked.ask("GET", "/v1/chat/completions").status == 405);
  CHECK(asked.ask("POST", "/v1/completions?x=1", "{}").status == 400);
  CHECK(completion_error(asked.ask("POST", "/v1/completions", "{}", "Content-Encoding: gzip\r\n"))
            .contains("message"));
  testing::AskedServer bare;
  const HttpAnswer none = bare.ask("POST", "/v1/completions", text_request().dump());
  CHECK(none.status == 404);
  CHECK_THAT(completion_error(none)["message"].get<std::string>(), Contains("--generator"));
}

TEST_CASE("models are listed for both kinds of clients") {
  ServedGenerators served;
  const json list = served.asked.get("/v1/models").json();
  CHECK(list["object"] == "list");
  REQUIRE(list["data"].size() == 2);
  CHECK(list["data"][0]["id"] == "clockwork");
  CHECK(list["items"].size() > 2);  // the catalogue
  CHECK(served.asked.get("/v1/models/vivid").json()["object"] == "model");
  CHECK(served.asked.get("/v1/models/vivit").status == 404);
}

TEST_CASE("full slots and a full line are status 429, and a client that leaves makes room") {
  ServedGenerators served("clockwork:first=30:slots=1", /*waiting=*/1);
  const bool streams = GENERATE(true, false);
  const std::string body = text_request({{"stream", streams}}).dump();
  const auto begun = [&] {
    auto client = std::make_unique<RawClient>(served.asked.server.port());
    client->send("POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
                 std::to_string(body.size()) + "\r\n\r\n" + body);
    return client;
  };
  // A request that would wait 30 s is refused at once, or not at all.
  const auto is_full = [&] {
    RawClient client(served.asked.server.port());
    client.send(
        "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        "Content-Length: " +
        std::to_string(body.size()) + "\r\n\r\n" + body);
    return client.has_answer(/*milliseconds=*/300);
  };
  auto first = begun(), second = begun();
  // A request in between may have taken the place of the second, which is refused then. All have
  // settled if three in a row are refused.
  int refused = 0;
  for (int i = 0; i < 40 && refused < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (second->has_answer(0)) second = begun();
    refused = is_full() ? refused + 1 : 0;
  }
  REQUIRE(refused == 3);
  const HttpAnswer answer = served.complete(text_request());
  CHECK(answer.status == 429);
  CHECK_THAT(answer.head, Contains("Retry-After: 1"));
  CHECK(completion_error(answer)["type"] == "rate_limit_error");
  second.reset();
  bool has_room = false;
  for (int i = 0; i < 100 && !has_room; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    has_room = !is_full();
  }
  CHECK(has_room);
}

TEST_CASE("an answer that fails says so: by its status, or in its stream") {
  ServedGenerators at_once("clockwork:first=0.001:fail_every=1:fail_after=0");
  const HttpAnswer failed = at_once.complete(text_request({{"stream", true}}));
  CHECK(failed.status == 503);
  CHECK_THAT(completion_error(failed)["message"].get<std::string>(), Contains("asked to fail"));
  ServedGenerators later("clockwork:first=0.001:gap=0.001:fail_every=1:fail_after=2");
  const auto events = events_in(later.complete(text_request({{"stream", true}})), false);
  REQUIRE(events.size() == 3);
  CHECK_THAT(events[2]["error"]["message"].get<std::string>(), Contains("asked to fail"));
  CHECK(later.complete(text_request()).status == 503);
}

TEST_CASE("generating takes the role run") {
  const testing::TemporaryFolder folder;
  const std::string file = folder / "tokens.json";
  const std::string view = AccessTokens::add(file, "reader", ServingRole::view);
  const std::string run = AccessTokens::add(file, "writer", ServingRole::run);
  ServedGenerators served("clockwork:first=0.001:gap=0.001", 4, file);
  const auto asked = [&](const std::string& token) {
    return served.asked.ask("POST", "/v1/completions", text_request().dump(),
                            token.empty() ? "" : "Authorization: Bearer " + token + "\r\n");
  };
  CHECK(completion_error(asked(""))["type"] == "authentication_error");
  CHECK(completion_error(asked(view))["type"] == "permission_error");
  CHECK(asked(run).status == 200);
}

TEST_CASE("a server that stops ends answers under way") {
  ServedGenerators served("clockwork:first=30");
  const bool streams = GENERATE(true, false);
  const std::string body = text_request({{"stream", streams}}).dump();
  RawClient client(served.asked.server.port());
  client.send("POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n\r\n" + body);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const auto begin = std::chrono::steady_clock::now();
  served.asked.server.stop();
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
}

}  // namespace
}  // namespace d5
