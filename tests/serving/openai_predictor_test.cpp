// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/completions/openai_predictor.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/load/query_summary.hpp"
#include "d5/evaluation/load/scenario.hpp"
#include "serving/completions/openai_system.hpp"
#include "tests/serving/scripted_server.hpp"
#include "tests/serving/served_generators.hpp"
#include "tests/temporary_folder.hpp"

namespace d5 {
namespace {

using detail::OpenaiSystem;
using testing::ScriptedServer;
using testing::TemporaryFolder;

class GivenPrompts final : public Prompts {
 public:
  std::int64_t size() const override { return 4; }
  void load(std::span<const std::int64_t>) override {}
  void unload() override {}
  std::string text(std::int64_t sample) const override {
    return "What is " + std::to_string(sample);
  }
};

/// A clockwork over a socket, and its client.
struct Served {
  explicit Served(const std::string& words) : served("clockwork" + words) {}
  std::shared_ptr<TextPredictor> open(const std::string& words) const {
    add_openai_predictor();
    const ModelAssets model{.model = "clockwork", .network = ""};
    return std::dynamic_pointer_cast<TextPredictor>(
        open_predictor("openai:" + served.asked.server.address() + words, model));
  }
  ScenarioResult run(const std::string& words, const ScenarioOptions& options,
                     const EntryChoice& scenario = {"closed_loop", {{"users", 3}}}) {
    const auto predictor = open(words);
    const auto system = predictor->system(prompts);
    return scenarios().at(scenario.name).make(scenario.settings)->run(*system, options);
  }
  GivenPrompts prompts;
  testing::ServedGenerators served;
};

std::set<std::string> metrics_of(const ScenarioResult& result) {
  std::set<std::string> names;
  for (const Measurement& record : result.measurements) names.insert(record.metric);
  return names;
}

const std::string kHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
std::string content(const std::string& text) {
  return "data: {\"choices\": [{\"index\": 0, \"delta\": {\"content\": \"" + text + "\"}}]}\n\n";
}
std::string usage(int prompt, int completion, int cached = 0) {
  return "data: {\"choices\": [], \"usage\": {\"prompt_tokens\": " + std::to_string(prompt) +
         ", \"completion_tokens\": " + std::to_string(completion) +
         ", \"prompt_tokens_details\": {\"cached_tokens\": " + std::to_string(cached) + "}}}\n\n";
}
const std::string kLastEvent = "data: [DONE]\n\n";

OpenaiSystem::Options openai_client(const std::string& url) {
  return {.name = "openai", .base = url + "v1", .seconds = 20, .request = {.model = "m"}};
}

/// One user's questions, one a scripted answer.
ScenarioResult ask_openai(const std::vector<std::string>& answers,
                          OpenaiSystem::Options options = {},
                          ScriptedServer::Then then = ScriptedServer::Then::close) {
  ScriptedServer server(answers, then);
  const OpenaiSystem::Options usual = openai_client(server.url);
  options.name = usual.name;
  options.base = usual.base;
  options.request.model = usual.request.model;
  GivenPrompts prompts;
  OpenaiSystem system(options, prompts);
  return scenarios()
      .at("closed_loop")
      .make()
      ->run(system, {.least_queries = std::int64_t(answers.size()), .answer_seconds = 30});
}

TEST_CASE("a server of known times is measured over sockets, never faster than it is") {
  const std::string api = GENERATE("chat", "completions");
  Served served(":first=0.004:gap=0.002:tokens=8:reasoning=2:role=0.001");
  const auto result = served.run("/clockwork:most_tokens=8:api=" + api,
                                 {.least_queries = 20, .limits = {.ttft = 3600}});
  CAPTURE(api, result.reason);
  CHECK(result.status != Status::failed);
  REQUIRE(result.queries.size() == 20);
  for (const QueryRecord& query : result.queries) {
    CHECK(query.tokens == 8);
    CHECK(query.first >= query.issued + 4'000'000);
    CHECK(query.ended >= query.first);
    if (api == "chat") CHECK(query.answered > query.first);  // after two pieces of reasoning
  }
  CHECK(result.pieces.size() == 160);
  for (const double tpot : token_times(result).tpot) CHECK(tpot > 0);
  for (const char* metric : {"ttft", "itl", "tpot", "stall", "output_rate", "goodput"}) {
    CHECK(metrics_of(result).contains(metric));
  }
  CHECK(result.conditions.at("output tokens by usage").number() == 160);
  CHECK(result.conditions.at("output tokens by pieces").number() == 160);
  CHECK(result.conditions.contains("client busy"));
  CHECK(result.conditions.at("prompts") == "fresh");
}

TEST_CASE("the same clockwork has the same times in this process and over a socket") {
  const std::string words = ":first=0.05:gap=0.01:tokens=20";
  const ScenarioOptions options{.least_queries = 12};
  Served served(words);
  const auto here = std::dynamic_pointer_cast<TextPredictor>(
      open_predictor("clockwork" + words, {.model = "clockwork", .network = ""}));
  const auto system = here->system(served.prompts);
  const EntryChoice users{"closed_loop", {{"users", 3}}};
  const std::vector<ScenarioResult> results{
      scenarios().at(users.name).make(users.settings)->run(*system, options),
      served.run("/clockwork", options, users)};
  for (const ScenarioResult& result : results) {
    CAPTURE(result.reason);
    TokenTimes times = token_times(result);
    REQUIRE(times.ttft.size() >= 12);
    // The quickest of all, and the median of means: a busy machine delays some.
    CHECK(std::ranges::min(times.ttft) == Approx(0.0525).margin(0.0025));
    std::ranges::sort(times.tpot);
    CHECK(times.tpot[times.tpot.size() / 2] == Approx(0.01).margin(0.0005));
  }
}

TEST_CASE("answers that come at the same time are kept apart") {
  Served served(":first=0.010:gap=0.001:tokens=5");
  const auto result =
      served.run("/clockwork", {.least_queries = 64}, {"closed_loop", {{"users", 32}}});
  CAPTURE(result.reason);
  REQUIRE(result.queries.size() >= 64);
  for (const QueryRecord& query : result.queries) {
    CHECK(query.status == Status::passed);
    CHECK(query.tokens == 5);
  }
}

TEST_CASE("a failure in the middle of an answer fails it, with its words") {
  Served served(":first=0.001:gap=0.001:tokens=5:fail_every=4:fail_after=2");
  const auto result = served.run("/clockwork", {.least_queries = 8, .limits = {.latency = 3600}});
  CHECK(result.status == Status::failed);
  CHECK_THAT(result.reason,
             Catch::Contains("2 of 8 samples failed") && Catch::Contains("it was asked to fail"));
  const auto share = std::ranges::find(result.measurements, "attainment", &Measurement::metric);
  CHECK(estimate(*share).value == 0.75);
}

TEST_CASE("an address without a server, and an unknown model, are refused when they are opened") {
  Served served("");
  CHECK_THROWS_WITH(served.open("/clockwerk"), Catch::Contains("did you mean clockwork?"));
  add_openai_predictor();
  CHECK_THROWS_AS(open_predictor("openai:http://127.0.0.1:1/m", {.model = "m", .network = ""}),
                  CommunicationError);
  CHECK_THROWS_AS(open_predictor("openai:nowhere", {.model = "m", .network = ""}), ValueError);
}

TEST_CASE("a request says what was asked for, and each prompt begins with another nonce") {
  const std::string answer = kHead + content("a") + usage(3, 1) + kLastEvent;
  for (const bool is_fresh : {true, false}) {
    ScriptedServer server({answer, answer, answer});
    OpenaiSystem::Options options = openai_client(server.url);
    options.is_fresh = is_fresh;
    options.request = {.model = "m", .most_tokens = 7, .ignore_eos = true, .seed = 5};
    GivenPrompts prompts;
    {
      OpenaiSystem system(options, prompts);
      (void)scenarios().at("closed_loop").make()->run(system, {.least_queries = 3});
    }
    std::set<std::string> nonces;
    for (const std::string& body : server.asked) {
      const auto asked = nlohmann::json::parse(body);
      CHECK(asked["stream"] == true);
      CHECK(asked["stream_options"]["include_usage"] == true);
      CHECK(asked["max_tokens"] == 7);
      CHECK(asked["ignore_eos"] == true);
      CHECK(asked["seed"] == 5);
      const std::string prompt = asked["messages"][0]["content"];
      CHECK_THAT(prompt, Catch::Contains("What is "));
      if (is_fresh) nonces.insert(prompt.substr(0, 18));
      if (!is_fresh) CHECK(prompt.starts_with("What is "));
    }
    CHECK(server.asked.size() == 3);
    CHECK(nonces.size() == (is_fresh ? 3 : 0));
    std::set<std::string> begins;  // counted numbers would begin alike
    for (const std::string& nonce : nonces) begins.insert(nonce.substr(0, 8));
    CHECK(begins.size() == nonces.size());
  }
}

TEST_CASE("a session's requests have what was said before, reasoning left out") {
  const std::string reasoned =
      "data: {\"choices\": [{\"index\": 0, \"delta\": {\"reasoning_content\": \"hm\"}}]}\n\n";
  const std::string first = kHead + reasoned + content("one") + usage(3, 2) + kLastEvent;
  const std::string busy = "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 2\r\n\r\nno";
  const std::string other = kHead + content("two") + usage(9, 1, 4) + kLastEvent;
  ScriptedServer server({first, busy, other});
  GivenPrompts prompts;
  {
    OpenaiSystem system(openai_client(server.url), prompts);
    const auto result =
        scenarios().at("sessions").make({{"turns", 3}})->run(system, {.least_queries = 3});
    CHECK_THAT(result.reason, !Catch::Contains("cache"));  // a session's prompts are known to it
  }
  REQUIRE(server.asked.size() == 3);
  for (const std::size_t turn : {1, 2}) {  // the refused turn is as if it had not been asked
    const auto said = nlohmann::json::parse(server.asked[turn])["messages"];
    REQUIRE(said.size() == 3);
    CHECK(said[0] == nlohmann::json::parse(server.asked[0])["messages"][0]);
    CHECK(said[1] == nlohmann::json{{"role", "assistant"}, {"content", "one"}});
    CHECK(said[2]["role"] == "user");
    CHECK_THAT(said[2]["content"].get<std::string>(), Catch::StartsWith("What is "));
  }
}

/// Replays requests of 4 tokens a block against scripted answers, and returns the bodies of them.
std::vector<nlohmann::json> replay_requests(const std::string& trace,
                                            const std::vector<std::string>& answers,
                                            const OpenaiSystem::Options& options,
                                            ScenarioResult& result) {
  const TemporaryFolder folder;
  std::ofstream(folder / "trace") << trace;
  ScriptedServer server(answers);
  OpenaiSystem::Options asked = openai_client(server.url);
  asked.is_fresh = options.is_fresh;
  asked.tokenizer = options.tokenizer;
  asked.request.ignore_eos = options.request.ignore_eos;
  GivenPrompts prompts;
  {
    OpenaiSystem system(asked, prompts);
    result = scenarios()
                 .at("recorded")
                 .make({{"file", folder / "trace"}, {"block", 4}})
                 ->run(system, {.least_queries = std::int64_t(answers.size())});
  }
  std::vector<nlohmann::json> bodies;
  for (const std::string& body : server.asked) bodies.push_back(nlohmann::json::parse(body));
  return bodies;
}

TEST_CASE("recorded requests ask for their lengths, by prompts of a letter a token") {
  const std::string trace =
      R"({"timestamp": 0, "input_length": 10, "output_length": 1, "hash_ids": [5, 6, 7]})"
      "\n"
      R"({"timestamp": 60, "input_length": 9, "output_length": 2, "hash_ids": [5, 6, 8]})"
      "\n";
  const auto answers = [&](int prompt, int cached) {
    return std::vector{
        kHead + content("a") + usage(prompt, 1) + kLastEvent,
        kHead + content("b") + content("c") + usage(prompt - 1, 2, cached) + kLastEvent};
  };
  const OpenaiSystem::Options fresh{.request = {.ignore_eos = true}};
  ScenarioResult result;
  const auto bodies = replay_requests(trace, answers(10, 8), fresh, result);
  CAPTURE(result.reason);
  CHECK_THAT(result.reason, !Catch::Contains("token"));
  REQUIRE(bodies.size() == 2);
  const auto prompt = [](const nlohmann::json& body) {
    return body["messages"][0]["content"].get<std::string>();
  };
  CHECK(bodies[0]["max_tokens"] == 1);
  CHECK(bodies[1]["max_tokens"] == 2);
  CHECK(bodies[1]["ignore_eos"] == true);
  CHECK(prompt(bodies[0]).size() == 19);  // ten letters, blanks between them
  CHECK(prompt(bodies[1]).size() == 17);
  CHECK(prompt(bodies[0]).substr(0, 16) == prompt(bodies[1]).substr(0, 16));
  CHECK(result.conditions.at("prompt tokens shared").number() == 8);

  // Another run's prompts are others, unless the cache may be warm.
  const auto again = replay_requests(trace, answers(10, 9), fresh, result);
  CHECK(prompt(again[0]) != prompt(bodies[0]));
  CHECK_THAT(result.reason, Catch::Contains("the server took 9 prompt tokens from its cache, "
                                            "although prompts of the trace share 8"));
  OpenaiSystem::Options warm = fresh;
  warm.is_fresh = false;
  const auto one = replay_requests(trace, answers(10, 9), warm, result);
  CHECK_THAT(result.reason, !Catch::Contains("token"));
  CHECK(prompt(replay_requests(trace, answers(10, 9), warm, result)[0]) == prompt(one[0]));

  // A server that counts others, and a vocabulary of bytes.
  (void)replay_requests(trace, answers(8, 0), fresh, result);
  CHECK_THAT(result.reason, Catch::Contains("tokens of the prompts are 15 by the server's usage, "
                                            "19 by the trace"));
  warm.tokenizer = tokenizers().at("bytes").make({});
  CHECK(prompt(replay_requests(trace, answers(10, 0), warm, result)[0]).size() == 10);
  CAPTURE(result.reason);
  CHECK(result.conditions.at("prompt tokens by tokenizer").number() == 19);
}

TEST_CASE("recorded requests of a server have the lengths of their trace") {
  const TemporaryFolder folder;
  std::string trace = "TIMESTAMP,ContextTokens,GeneratedTokens\n";
  for (int i = 0; i < 12; ++i) {
    trace += "2023-11-16 18:15:46." + std::to_string(100 + 20 * i) + ',' + std::to_string(5 + i) +
             ',' + std::to_string(1 + i) + '\n';
  }
  std::ofstream(folder / "trace.csv") << trace;
  Served served(":first=0.004:gap=0.001:tokens=3");
  const auto result = served.run("/clockwork:ignore_eos=true", {.least_queries = 12},
                                 {"recorded", {{"file", folder / "trace.csv"}}});
  CAPTURE(result.reason);
  REQUIRE(result.queries.size() == 12);
  for (std::int64_t i = 0; i < 12; ++i) {
    const QueryRecord& query = result.queries[std::size_t(i)];
    CHECK(query.status == Status::passed);
    CHECK(query.tokens == 1 + i);
    CHECK(std::abs(query.scheduled - result.queries[0].scheduled - 20'000'000 * i) <= 1);
  }
}

TEST_CASE("tokens are counted right where a character is several of them") {
  Served served("");
  const auto result = served.run("/vivid:api=completions:most_tokens=24:ignore_eos=true",
                                 {.least_queries = 6}, {"closed_loop", {{"users", 2}}});
  CAPTURE(result.reason);
  REQUIRE(result.queries.size() >= 6);
  const auto all = double(24 * result.queries.size());
  CHECK(result.conditions.at("output tokens by usage").number() == all);
  CHECK(result.conditions.at("output tokens by pieces").number() == all);
  CHECK_THAT(result.reason, !Catch::Contains("token"));
  CHECK(std::ranges::any_of(result.pieces, [](const TokenPiece& one) { return one.tokens > 1; }));
}

TEST_CASE("prompts of recorded lengths have them in a vocabulary of bytes, too") {
  const TemporaryFolder folder;
  std::ofstream(folder / "trace.csv") << "TIMESTAMP,ContextTokens,GeneratedTokens\n"
                                         "2023-11-16 18:15:46.6805900,30,4\n"
                                         "2023-11-16 18:15:46.7001000,21,6\n";
  Served served("");
  const std::string model = GENERATE("/clockwork", "/vivid");
  const auto result = served.run(model + ":api=completions:ignore_eos=true", {.least_queries = 2},
                                 {"recorded", {{"file", folder / "trace.csv"}}});
  CAPTURE(model, result.reason);
  CHECK(result.conditions.at("prompt tokens by usage").number() == 51);
  CHECK(result.conditions.at("output tokens by pieces").number() == 10);
  CHECK_THAT(result.reason, !Catch::Contains("token"));
}

TEST_CASE("refusals are failed queries with their status, and are counted") {
  const std::string busy =
      "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 32\r\n\r\n"
      R"({"error": {"message": "slower"}})";
  const std::string down = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\ndown";
  const auto result =
      ask_openai({kHead + content("a") + usage(3, 1) + kLastEvent, busy, down, busy});
  CHECK(result.status == Status::failed);
  CHECK_THAT(result.reason,
             Catch::Contains("3 of 4 samples failed, the first with: HTTP 429: slower"));
  CHECK(result.conditions.at("refused") == "2 of status 429, 1 of status 503");
  CHECK(result.queries.size() == 4);
}

TEST_CASE("a server that closes, hangs or sends another thing costs its own query alone") {
  const std::string whole = kHead + content("a") + usage(3, 1) + kLastEvent;
  const auto fault = [&](const std::string& bad) {
    const auto result = ask_openai({bad, whole});
    CHECK(result.queries.at(1).status == Status::passed);
    CHECK(result.queries.at(0).status == Status::failed);
    return result.reason;
  };
  CHECK_THAT(fault(kHead + content("a") + content("b")), Catch::Contains("broke off after 2"));
  CHECK_THAT(fault("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n" + content("a")),
             Catch::Contains("1 of 2 samples failed"));  // libcurl's words
  CHECK_THAT(fault(""), Catch::Contains("1 of 2 samples failed"));
  CHECK_THAT(fault("no HTTP"), Catch::Contains("1 of 2 samples failed"));
  CHECK_THAT(fault(kHead + content("a") + "data: {\"error\": {\"message\": \"OOM\"}}\n\n"),
             Catch::Contains("OOM"));
  CHECK_THAT(fault(kHead + "data: {]\n\n"), Catch::Contains("no JSON object"));
  const auto hung =
      ask_openai({kHead + content("a")}, {.seconds = 0.5}, ScriptedServer::Then::hang);
  CHECK(hung.status == Status::failed);
  CHECK(hung.queries.at(0).first > 0);
  CHECK_THAT(hung.reason, Catch::Contains("no byte of the answer came for 0.5 s"));
}

TEST_CASE("counts of tokens that differ are doubted, with the words") {
  const auto doubt_of = [](const std::vector<std::string>& events,
                           const OpenaiSystem::Options& options = {}) {
    std::string answer = kHead;
    for (const std::string& one : events) answer += one;
    const auto result = ask_openai({answer + kLastEvent, answer + kLastEvent}, options);
    CHECK(result.status == Status::mistrusted);
    return result.reason;
  };
  CHECK_THAT(doubt_of({content("a"), content("b"), usage(3, 5)}),
             Catch::Contains("tokens of the answers are 10 by the server's usage, 4 by pieces"));
  CHECK_THAT(doubt_of({content("a")}), Catch::Contains("the server counts no tokens (usage)"));
  CHECK_THAT(doubt_of({content("a"), usage(3, 1, 2)}),
             Catch::Contains("the server took 4 prompt tokens from its cache"));
  OpenaiSystem::Options asked{.request = {.most_tokens = 9, .ignore_eos = true}};
  CHECK_THAT(doubt_of({content("a"), usage(3, 1)}, asked),
             Catch::Contains("2 answers have 2 tokens, 9 each were asked for"));
  OpenaiSystem::Options counting{.is_fresh = false, .tokenizer = tokenizers().at("bytes").make({})};
  CHECK_THAT(doubt_of({content("a"), usage(5, 1)}, counting),
             Catch::Contains("tokens of the prompts are 10 by the server's usage, 18 by the "
                             "tokenizer"));
  CHECK_THAT(doubt_of({content("abc"), usage(9, 3)}, counting),
             Catch::Contains("6 by the server's usage, 2 by pieces, 6 by the tokenizer"));
  CHECK_THAT(doubt_of({content("\xC3"), usage(3, 1)}), Catch::Contains("2 answers have bytes"));
}

TEST_CASE("a text that lost bytes is not counted by the tokenizer") {
  const OpenaiSystem::Options counting{.is_fresh = false,
                                       .tokenizer = tokenizers().at("bytes").make({})};
  const std::string answer = kHead + content("a\xEF\xBF\xBD") + usage(9, 1) + kLastEvent;
  const auto result = ask_openai({answer, answer}, counting);
  CAPTURE(result.reason);
  CHECK_FALSE(result.conditions.contains("output tokens by tokenizer"));
  CHECK_THAT(result.reason, !Catch::Contains("tokenizer"));
}

TEST_CASE("a run whose counts agree is trusted, with a warm cache too") {
  const std::string answer = kHead + content("a") + usage(9, 1, 4) + kLastEvent;
  const auto result = ask_openai(
      {answer, answer}, {.is_fresh = false, .tokenizer = tokenizers().at("bytes").make({})});
  CAPTURE(result.reason);
  CHECK(result.status == Status::passed);
  CHECK(result.conditions.at("prompt tokens by tokenizer").number() == 18);
  CHECK(result.conditions.at("prompts") == "warm");
}

TEST_CASE("a usage may count the token that ends each answer, and no more") {
  const auto doubt = [](std::int64_t usage, std::int64_t pieces, std::int64_t answers,
                        std::optional<std::int64_t> tokenizer = {}) {
    detail::TokenAccount account;
    account.whole_answers = answers;
    account.answers = {.by_usage = usage, .by_pieces = pieces, .by_tokenizer = tokenizer};
    return account.report().doubt;
  };
  CHECK(doubt(100, 90, 10).empty());  // one each
  CHECK(doubt(95, 90, 10).empty());
  CHECK_THAT(doubt(102, 90, 10), Catch::Contains("102 by the server's usage, 90 by pieces"));
  CHECK_THAT(doubt(88, 90, 10), Catch::Contains("88 by the server's usage, 90 by pieces"));
  CHECK_THAT(doubt(100, 90, 9), Catch::Contains("100 by the server's usage"));
  // Other counts differ without it, too.
  CHECK_THAT(doubt(100, 90, 10, 95), Catch::Contains("90 by pieces, 95 by the tokenizer"));
  CHECK(doubt(10'000, 9'901, 0).empty());  // within 1%
}

TEST_CASE("a chat's template is in the usage of its prompts, and may be cached") {
  detail::TokenAccount account;
  const auto doubt = [&](std::int64_t usage, std::optional<std::int64_t> own, std::int64_t cached,
                         bool is_chat) {
    account.has_template = is_chat;
    account.prompts = {.by_usage = usage, .by_tokenizer = own};
    account.cached = cached;
    return account.report().doubt;
  };
  CHECK(doubt(255, 135, 0, true).empty());
  CHECK_THAT(doubt(255, 135, 0, false), Catch::Contains("255 by the server's usage, 135 by the"));
  CHECK_THAT(doubt(120, 135, 0, true), Catch::Contains("120 by the server's usage, 135 by the"));
  CHECK(doubt(255, 135, 120, true).empty());
  CHECK_THAT(doubt(255, 135, 121, true), Catch::Contains("took 121 prompt tokens from its cache"));
  CHECK_THAT(doubt(135, 135, 1, false), Catch::Contains("took 1 prompt tokens from its cache"));
  CHECK(doubt(255, {}, 127, true).empty());  // nobody else counts
  CHECK_THAT(doubt(255, {}, 128, true), Catch::Contains("took 128 prompt tokens"));
}

TEST_CASE("counts that lie in opposite directions are doubted answer by answer") {
  const auto answer = [](int counted) {
    return kHead + content("a") + content("b") + content("c") + usage(3, counted) + kLastEvent;
  };
  const auto result = ask_openai({answer(1), answer(5), answer(3), answer(4)});
  CAPTURE(result.reason);
  CHECK(result.status == Status::mistrusted);
  CHECK_THAT(result.reason, !Catch::Contains("tokens of the answers are"));  // the sums agree
  CHECK_THAT(result.reason,
             Catch::Contains("2 of 4 answers have another number of tokens than came, the first 1 "
                             "by the server's usage, 3 by pieces"));
}

TEST_CASE("answers without a token are doubted, and so are those longer than asked for") {
  const std::string empty = kHead + usage(3, 0) + kLastEvent;
  const std::string some = kHead + content("a") + content("b") + usage(3, 3) + kLastEvent;
  const auto half = ask_openai({empty, some});
  CHECK(half.status == Status::mistrusted);
  CHECK_THAT(half.reason, Catch::Contains("1 of 2 answers have no token"));
  CHECK(half.conditions.at("answers without a token").number() == 1);
  CHECK_THAT(ask_openai({empty, empty}).reason, Catch::Contains("2 of 2 answers have no token"));

  const auto asked = [&](std::int64_t most) {
    return ask_openai({some, some}, {.request = {.most_tokens = most}});
  };
  CHECK(asked(2).status == Status::passed);  // the usage has the token that ends it
  CHECK(asked(1).status == Status::mistrusted);
  CHECK_THAT(asked(1).reason, Catch::Contains("2 of 2 answers are longer than asked for "
                                              "(most_tokens), the first 2 tokens for 1"));
}

TEST_CASE("a busy client makes a run invalid, because it stamps late") {
  const auto fault = [](double run, double busy) {
    detail::TokenAccount account;
    account.run_seconds = run;
    account.busy_seconds = busy;
    return account.report().fault;
  };
  CHECK(fault(2, 0.18).empty());
  CHECK_THAT(fault(2, 0.22), Catch::Contains("busy for 11% of the time"));
  CHECK(fault(0.5, 0.4).empty());  // mostly its start
}

}  // namespace
}  // namespace d5
