// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/generation/served_generator.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/load/scenario.hpp"
#include "evaluation/load/drawn_prompts.hpp"
#include "evaluation/load/recorded_turns.hpp"
#include "tests/evaluation/generation/vivid_decoder.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using test::answers_of;
using test::generator_of;
using test::kPrompts;
using test::Tokens;
using test::vivid_decoder;

namespace {

std::shared_ptr<Generator> shared_generator(std::int64_t slots) {
  return std::make_shared<NetworkGenerator>(make_executor(vivid_decoder(slots)), nullptr,
                                            NetworkGenerator::Options{.piece = 8});
}

/// Answers and pieces by query.
class Listening {
 public:
  struct Heard {
    std::optional<Status> status;
    std::string reason;
    Tokens tokens;
    std::int64_t counted = 0, pieces = 0, pieces_after = 0;
  };
  explicit Listening(SystemUnderTest& system) : system_(system) {
    system.on_complete(
        [this](std::span<const QueryAnswer> answers) {
          const std::lock_guard lock(mutex_);
          for (const QueryAnswer& answer : answers) {
            Heard& heard = heard_[answer.id];
            heard.status = answer.status;
            heard.reason = answer.reason;
            heard.counted = answer.tokens;
            heard.tokens.resize(answer.bytes.size() / sizeof(TokenId));
            if (!heard.tokens.empty()) {
              std::memcpy(heard.tokens.data(), answer.bytes.data(), answer.bytes.size());
            }
            ++answers_;
          }
          changed_.notify_all();
        },
        [this](std::span<const QueryProgress> pieces) {
          const std::lock_guard lock(mutex_);
          for (const QueryProgress& piece : pieces) {
            Heard& heard = heard_[piece.id];
            (heard.status ? heard.pieces_after : heard.pieces) += piece.tokens;
          }
        });
  }
  ~Listening() { system_.on_complete({}); }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

  std::map<std::int64_t, Heard> wait_for(std::size_t answers) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return answers_ >= answers; });
    return heard_;
  }

 private:
  SystemUnderTest& system_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::int64_t, Heard> heard_;
  std::size_t answers_ = 0;
};

}  // namespace

TEST_CASE("a served generator answers more queries than it has slots, token by token") {
  const double temperature = GENERATE(0.0, 0.8);
  const Sampling sampling{.temperature = temperature, .seed = 2};
  auto alone = generator_of(vivid_decoder(3));
  const auto expected = answers_of(alone, kPrompts, {.most_tokens = 9}, sampling);
  ServedGenerator served(shared_generator(2), kPrompts, {.most_tokens = 9}, sampling);
  CHECK(served.samples() == 3);
  Listening listening(served);
  std::vector<Query> queries;
  for (std::int64_t id = 0; id < 7; ++id) queries.push_back({.id = 100 + id, .sample = id % 3});
  served.issue(std::span(queries).first(4));
  served.issue(std::span(queries).subspan(4));
  const auto heard = listening.wait_for(7);
  REQUIRE(heard.size() == 7);
  for (const Query& query : queries) {
    const auto& answer = heard.at(query.id);
    CHECK(answer.status == Status::passed);
    CHECK(answer.tokens == expected[std::size_t(query.sample)]);
    CHECK(answer.counted == 9);
    CHECK(answer.pieces == 9);
    CHECK(answer.pieces_after == 0);
  }
}

TEST_CASE("a prompt that is too long fails alone") {
  ServedGenerator served(shared_generator(1), {Tokens(90, 1), kPrompts[0]}, {.most_tokens = 3});
  Listening listening(served);
  const std::vector<Query> queries{{.id = 1, .sample = 0}, {.id = 2, .sample = 1}};
  served.issue(queries);
  const auto heard = listening.wait_for(2);
  CHECK(heard.at(1).status == Status::failed);
  CHECK_THAT(heard.at(1).reason, Catch::Contains("90 tokens"));
  CHECK(heard.at(2).status == Status::passed);
  CHECK(heard.at(2).tokens.size() == 3);
}

namespace {

/// Fails every second step.
class FailingGenerator final : public Generator {
 public:
  [[nodiscard]] std::string name() const override { return "failing"; }
  [[nodiscard]] std::size_t slots() const override { return 1; }
  [[nodiscard]] std::int64_t capacity() const override { return 10; }
  [[nodiscard]] std::size_t active() const override { return 1; }
  std::size_t admit(std::span<const TokenId>, const GenerationLimits&, const Sampling&) override {
    return 0;
  }
  const std::vector<GeneratedToken>& step() override {
    if (++steps_ % 2 == 0) throw Unsupported("no even steps");
    return tokens_;
  }
  void rewind(std::size_t, std::int64_t) override {}
  void release(std::size_t) override {}

 private:
  int steps_ = 0;
  std::vector<GeneratedToken> tokens_{{.slot = 0, .token = 5}};
};

}  // namespace

TEST_CASE("a step that fails fails its texts, and later queries are taken") {
  ServedGenerator served(std::make_shared<FailingGenerator>(), {Tokens{1}}, {});
  Listening listening(served);
  const std::vector<Query> queries{{.id = 1, .sample = 0}, {.id = 2, .sample = 0}};
  served.issue(queries);
  for (const auto& [id, heard] : listening.wait_for(2)) {
    CHECK(heard.status == Status::failed);
    CHECK(heard.reason == "no even steps");
    CHECK(heard.pieces == 1);
  }
  CHECK_THROWS_AS(ServedGenerator(shared_generator(1), {}, {}), ValueError);
}

TEST_CASE("a scenario measures the tokens of a served generator") {
  ServedGenerator served(shared_generator(2), kPrompts, {.most_tokens = 6});
  const auto result = scenarios()
                          .at("closed_loop")
                          .make({{"users", 3}})
                          ->run(served, {.least_queries = 12, .seed = 1});
  CAPTURE(result.reason);
  CHECK(result.status == Status::passed);
  REQUIRE(result.queries.size() >= 12);
  for (const QueryRecord& query : result.queries) {
    CHECK(query.tokens == 6);
    CHECK(query.issued <= query.begun);
    CHECK(query.begun < query.first);
    CHECK(query.first < query.ended);
  }
  CHECK(result.pieces.size() == 6 * result.queries.size());
  for (const char* metric : {"ttft", "itl", "tpot", "output_tokens"}) {
    CHECK(std::ranges::count(result.measurements, metric, &Measurement::metric) > 0);
  }
}

TEST_CASE("a session's answers join the next turn's prompt") {
  const std::vector<Tokens> prompts{{5, 6, 7}};
  ServedGenerator served(shared_generator(1), prompts, {.most_tokens = 4});
  const auto result = scenarios()
                          .at("sessions")
                          .make({{"turns", 3}})
                          ->run(served, {.least_queries = 6, .keep_answers = 1});
  REQUIRE(result.answers.size() == 6);
  for (std::size_t session = 0; session < 2; ++session) {
    Tokens said;
    for (std::size_t turn = 0; turn < 3; ++turn) {
      said.insert(said.end(), prompts[0].begin(), prompts[0].end());
      auto alone = generator_of(vivid_decoder(1));
      const Tokens answer = answers_of(alone, {said}, {.most_tokens = 4})[0];
      const auto& bytes = result.answers[3 * session + turn].bytes;
      Tokens heard(bytes.size() / sizeof(TokenId));
      std::memcpy(heard.data(), bytes.data(), bytes.size());
      CHECK(heard == answer);
      said.insert(said.end(), answer.begin(), answer.end());
    }
  }
}

TEST_CASE("recorded requests have prompts and answers of their lengths") {
  const testing::TemporaryFolder folder;
  const std::string file = folder / "trace";
  std::ofstream(file)
      << R"({"timestamp": 0, "input_length": 6, "output_length": 3, "hash_ids": [7, 8]}
{"timestamp": 1, "input_length": 21, "output_length": 9, "hash_ids": [7, 9, 10, 11, 12, 13]}
{"timestamp": 2, "input_length": 1, "output_length": 1}
)";
  // A token that most answers would end with, were it no answer of a recorded length.
  auto alone = generator_of(vivid_decoder(1));
  const TokenId usual = answers_of(alone, {kPrompts[0]}, {.most_tokens = 2})[0][1];
  ServedGenerator served(shared_generator(2), kPrompts, {.most_tokens = 50, .stop_tokens = {usual}},
                         {.seed = 1});
  const auto result = scenarios()
                          .at("recorded")
                          .make({{"file", file}, {"block", 4}})
                          ->run(served, {.least_queries = 3, .seed = 5, .keep_answers = 1});
  CAPTURE(result.reason);
  REQUIRE(result.answers.size() == 3);
  std::vector<TokenId> vocabulary;
  for (const Tokens& prompt : kPrompts) {
    vocabulary.insert(vocabulary.end(), prompt.begin(), prompt.end());
  }
  std::ranges::sort(vocabulary);
  const auto [first, last] = std::ranges::unique(vocabulary);
  vocabulary.erase(first, last);
  const auto recorded = detail::read_trace_of_turns({.file = file, .block = 4});
  const RequestTrace& trace = recorded.trace;
  detail::DrawnPrompts prompts(recorded, 5, 4);
  for (std::size_t i = 0; i < 3; ++i) {
    Tokens prompt;
    for (const std::uint64_t number : prompts.draw(trace.requests[i], 0).prompt) {
      prompt.push_back(vocabulary[std::size_t((number * vocabulary.size()) >> 32)]);
    }
    const std::int64_t tokens = trace.requests[i].answer_tokens;
    CHECK(result.queries[i].tokens == tokens);
    auto other = generator_of(vivid_decoder(1));
    const Tokens answer =
        answers_of(other, {prompt},
                   {.most_tokens = tokens, .least_tokens = tokens, .stop_tokens = {usual}})[0];
    Tokens heard(result.answers[i].bytes.size() / sizeof(TokenId));
    std::memcpy(heard.data(), result.answers[i].bytes.data(), result.answers[i].bytes.size());
    CHECK(heard == answer);
  }
}
