// SPDX-License-Identifier: Apache-2.0
// Recorded requests in virtual time, against what their file says.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/load/scenario.hpp"
#include "d5/evaluation/predictor/text_predictor.hpp"
#include "tests/evaluation/simulated_system.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

namespace {

/// Hears what it is asked for, and answers in a millisecond with as many tokens, or with one less.
class LengthKeeper final : public SystemUnderTest {
 public:
  explicit LengthKeeper(std::shared_ptr<VirtualLoadClock> clock) : clock_(std::move(clock)) {}
  std::string name() const override { return "length keeper"; }
  std::int64_t samples() const override { return 10; }
  bool keeps_lengths() const override { return true; }
  void issue(std::span<const Query> queries) override {
    for (const Query& query : queries) {
      Asked one{.at = clock_->now(), .has_text = query.text != nullptr};
      if (query.text) {
        one.prompt.assign(query.text->prompt.begin(), query.text->prompt.end());
        one.shared = query.text->shared_tokens;
        one.answer = query.text->answer_tokens;
        one.number = query.text->number;
      }
      asked.push_back(one);
      const bool is_short = short_every > 0 && std::int64_t(asked.size()) % short_every == 0;
      const std::int64_t tokens = one.answer - (is_short ? 1 : 0);
      clock_->at(clock_->now() + 1'000'000, [this, id = query.id, tokens] {
        progress({{.id = id, .tokens = tokens}});
        complete({{.id = id, .tokens = tokens}});
      });
    }
  }
  struct Asked {
    std::int64_t at = 0;
    bool has_text = false;
    std::vector<std::uint32_t> prompt = {};
    std::int64_t shared = 0, answer = 0, number = 0;
  };
  std::vector<Asked> asked;
  std::int64_t short_every = 0;  ///< number of queries from one short answer to the next; 0: none

 private:
  std::shared_ptr<VirtualLoadClock> clock_;
};

struct TraceFile {
  explicit TraceFile(const std::string& text) { std::ofstream(path) << text; }
  testing::TemporaryFolder folder;
  std::string path = folder / "trace";
};

std::string mooncake_line(double ms, std::int64_t prompt, std::int64_t answer,
                          const std::vector<int>& blocks) {
  std::string ids;
  for (const int id : blocks) ids += (ids.empty() ? "" : ", ") + std::to_string(id);
  return "{\"timestamp\": " + std::to_string(ms) + ", \"input_length\": " + std::to_string(prompt) +
         ", \"output_length\": " + std::to_string(answer) + ", \"hash_ids\": [" + ids + "]}\n";
}

/// Prompts of blocks of 4 tokens.
const std::string kBlocks =
    mooncake_line(100, 10, 3, {0, 1, 2}) + mooncake_line(100, 8, 5, {0, 1}) +
    mooncake_line(350, 11, 2, {0, 3, 2}) + mooncake_line(351, 9, 7, {0, 1, 2}) +
    mooncake_line(900, 6, 1, {}) + mooncake_line(1000, 6, 1, {});

struct HeardReplay {
  ScenarioResult result;
  std::vector<LengthKeeper::Asked> asked;
};
HeardReplay replay(const TraceFile& trace, Settings settings, std::int64_t queries,
                   ScenarioOptions options = {}, std::int64_t short_every = 0) {
  const auto clock = std::make_shared<VirtualLoadClock>();
  LengthKeeper system(clock);
  system.short_every = short_every;
  settings.set("file", trace.path);
  settings.set("block", 4);
  options.least_queries = queries;
  options.clock = clock;
  auto result = scenarios().at("recorded").make(settings)->run(system, options);
  return {std::move(result), std::move(system.asked)};
}

std::size_t common_beginning(const std::vector<std::uint32_t>& a,
                             const std::vector<std::uint32_t>& b) {
  const auto ends = std::ranges::mismatch(a, b);
  return std::size_t(ends.in1 - a.begin());
}

class NumberedPrompts final : public Prompts {
 public:
  std::int64_t size() const override { return 3; }
  void load(std::span<const std::int64_t>) override {}
  void unload() override {}
  std::string text(std::int64_t sample) const override { return std::to_string(sample); }
};

}  // namespace

TEST_CASE("recorded requests come at the times of their file, with its lengths") {
  const TraceFile trace(kBlocks);
  const auto [result, asked] = replay(trace, {}, 6);
  CAPTURE(result.reason);
  CHECK(result.status == Status::passed);
  REQUIRE(asked.size() == 6);
  const std::vector<std::int64_t> ms{0, 0, 250, 251, 800, 900}, prompts{10, 8, 11, 9, 6, 6},
      answers{3, 5, 2, 7, 1, 1};
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(std::abs(asked[i].at - asked[0].at - ms[i] * 1'000'000) <= 1);  // ns
    CHECK(result.queries[i].scheduled == asked[i].at);
    CHECK(std::int64_t(asked[i].prompt.size()) == prompts[i]);
    CHECK(asked[i].answer == answers[i]);
    CHECK(result.queries[i].tokens == answers[i]);
  }
  CHECK(result.conditions.at("trace") == "mooncake");
  CHECK(result.conditions.at("lengths") == "recorded");
  CHECK(result.conditions.at("prompt tokens asked").number() == 50);
  const auto scaled = replay(trace, {{"rate", 50}}, 6).asked;
  CHECK(std::abs(scaled.back().at - scaled.front().at - 100'000'000) <= 1);  // five gaps
  CHECK(scaled[2].prompt == asked[2].prompt);
}

TEST_CASE("prompts share the blocks whose ids are equal, and nothing else") {
  const TraceFile trace(kBlocks);
  const auto asked = replay(trace, {}, 6).asked;
  // The ids: 0 1 2 | 0 1 | 0 3 2 | 0 1 2 | none | none; the third's last block is the first's, but
  // behind another.
  const std::size_t common[6][6] = {{10, 8, 4, 9, 0, 0}, {8, 8, 4, 8, 0, 0}, {4, 4, 11, 4, 0, 0},
                                    {9, 8, 4, 9, 0, 0},  {0, 0, 0, 0, 6, 0}, {0, 0, 0, 0, 0, 6}};
  for (std::size_t i = 0; i < 6; ++i) {
    std::size_t most = 0;
    for (std::size_t k = 0; k < 6; ++k) {
      CAPTURE(i, k);
      CHECK(common_beginning(asked[i].prompt, asked[k].prompt) == common[i][k]);
      if (k < i) most = std::max(most, common[i][k]);
    }
    CHECK(asked[i].shared == std::int64_t(most));
  }
  const std::vector<std::uint32_t> last{asked[2].prompt.begin() + 8, asked[2].prompt.end()};
  const std::vector<std::uint32_t> first{asked[0].prompt.begin() + 8, asked[0].prompt.end()};
  CHECK(common_beginning(first, last) == first.size());
}

TEST_CASE(
    "a replay is the same with the same seed, and a later part has the prompts of the whole") {
  const TraceFile trace(kBlocks);
  const auto whole = replay(trace, {}, 6, {.seed = 3}).asked;
  const auto again = replay(trace, {}, 6, {.seed = 3}).asked;
  const auto other = replay(trace, {}, 6, {.seed = 4}).asked;
  const auto rest = replay(trace, {{"from", 0.2}}, 4, {.seed = 3}).asked;
  REQUIRE(rest.size() == 4);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(again[i].prompt == whole[i].prompt);
    CHECK(common_beginning(other[i].prompt, whole[i].prompt) == 0);
    if (i < 2) continue;
    CHECK(rest[i - 2].prompt == whole[i].prompt);
    CHECK(rest[i - 2].answer == whole[i].answer);
    CHECK(rest[i - 2].number == whole[i].number);
    CHECK(std::abs(rest[i - 2].at - rest[0].at - (whole[i].at - whole[2].at)) <= 1);
  }
}

TEST_CASE("a trace that begins again has other prompts, which share as much") {
  const TraceFile trace(kBlocks);
  const auto asked = replay(trace, {{"loop", true}}, 12).asked;
  REQUIRE(asked.size() == 12);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(asked[i + 6].prompt.size() == asked[i].prompt.size());
    CHECK(asked[i + 6].shared == asked[i].shared);
    for (std::size_t k = 0; k < 6; ++k) {
      CHECK(common_beginning(asked[i + 6].prompt, asked[k].prompt) == 0);
    }
  }
  // A mean gap after 900 ms.
  CHECK(std::abs(asked[6].at - asked[0].at - 1'080'000'000) <= 1);
}

TEST_CASE("a turn's prompt begins with what was said before in its conversation") {
  // "a" goes on twice; its failed turn is left out. "b" was cut, and begins again. The others have
  // no conversation.
  const TraceFile trace(
      "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type"
      "\r\n100.0,a,1,GPT-4,5,3,8,Conversation log\r\n101.0,b,1,ChatGPT,9,4,13,Conversation log\r\n"
      "102.0,,1,ChatGPT,9,4,13,API log\r\n103.0,a,1,GPT-4,12,4,16,Conversation log\r\n"
      "104.0,a,1,GPT-4,17,0,17,Conversation log\r\n105.0,b,1,ChatGPT,12,4,16,Conversation log\r\n"
      "106.0,a,1,ChatGPT,16,2,18,Conversation log\r\n107.0,,1,ChatGPT,16,2,18,API log\r\n");
  const auto [result, asked] = replay(trace, {}, 7, {.seed = 3});
  REQUIRE(asked.size() == 7);
  const std::vector<std::size_t> lengths{5, 9, 9, 12, 12, 16, 16};
  const std::vector<std::int64_t> shared{0, 0, 0, 5, 0, 12, 0};
  for (std::size_t i = 0; i < 7; ++i) {
    CAPTURE(i);
    CHECK(asked[i].prompt.size() == lengths[i]);
    CHECK(asked[i].shared == shared[i]);
    std::size_t most = 0;
    for (std::size_t k = 0; k < i; ++k) {
      most = std::max(most, common_beginning(asked[i].prompt, asked[k].prompt));
    }
    CHECK(std::int64_t(most) == shared[i]);
  }
  CHECK(result.conditions.at("turns that go on").number() == 2);
  CHECK(result.conditions.at("prompt tokens shared").number() == 17);
  // A later part has the same prompts, but shares what that part has asked for alone.
  const auto rest = replay(trace, {{"from", 3}}, 4, {.seed = 3}).asked;
  REQUIRE(rest.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) CHECK(rest[i].prompt == asked[i + 3].prompt);
  CHECK(rest[0].shared == 0);
  CHECK(rest[2].shared == 12);
}

TEST_CASE("a system that keeps no lengths is asked for its samples at the recorded times") {
  const TraceFile trace(kBlocks);
  const auto clock = std::make_shared<VirtualLoadClock>();
  SimulatedSystem system(clock, [](auto) { return std::int64_t{1000}; });
  const auto ask = [&](const Settings& more,
                       const ScenarioOptions::Mode mode = ScenarioOptions::Mode::performance) {
    Settings settings = more;
    settings.set("file", trace.path);
    settings.set("block", 4);
    return scenarios()
        .at("recorded")
        .make(settings)
        ->run(system, {.mode = mode, .least_queries = 4, .clock = clock});
  };
  const auto result = ask({});
  REQUIRE(result.queries.size() == 4);
  CHECK(result.queries[3].scheduled - result.queries[0].scheduled == 251'000'000);
  CHECK(result.conditions.at("lengths") == "own");
  CHECK_THROWS_AS(ask({{"lengths", "recorded"}}), Unsupported);
  CHECK_THROWS_WITH(ask({{"lengths", "recorded"}}), Catch::Contains("simulated answers samples"));

  CHECK_FALSE(replay(trace, {{"lengths", "own"}}, 4).asked[0].has_text);
  const TraceFile times("0\n1\n2\n");
  CHECK_FALSE(replay(times, {}, 3).asked[0].has_text);
  CHECK_THROWS_WITH(replay(times, {{"lengths", "recorded"}}, 3),
                    Catch::Contains("has times alone"));
  // Samples are judged, drawn prompts are not.
  const ScenarioOptions accuracy{.mode = ScenarioOptions::Mode::accuracy};
  CHECK_FALSE(replay(trace, {{"loop", true}}, 1, accuracy).asked[0].has_text);
}

TEST_CASE("answers of other lengths than recorded are doubted, but for one in a hundred") {
  std::string text;
  for (int i = 0; i < 200; ++i) text += mooncake_line(i, 3, 20, {});
  const TraceFile trace(text);
  const auto doubted = replay(trace, {}, 200, {}, 50).result;
  CHECK(doubted.status == Status::mistrusted);
  CHECK_THAT(doubted.reason, Catch::Contains("4 of 200 answers have another number of tokens than "
                                             "was recorded (query 49: 19 of 20)"));
  const auto honest = replay(trace, {}, 200, {}, 100).result;
  CAPTURE(honest.reason);
  CHECK(honest.status == Status::passed);
  CHECK(honest.conditions.at("answers of other lengths").number() == 2);
}

TEST_CASE("a replay has a hundred requests, or as many as are asked for, or as there are") {
  std::string text = "Timestamp,Request tokens,Response tokens\n";
  for (int i = 0; i < 150; ++i) text += std::to_string(i) + ",4,5\n";
  const TraceFile trace(text);
  const auto length = [&](Settings settings) {
    settings.set("file", trace.path);
    return scenarios().at("recorded").make(settings)->usual_length().queries;
  };
  CHECK(length({}) == 100);
  CHECK(length({{"most", 120}}) == 120);
  CHECK(length({{"most", 1000}}) == 150);
  CHECK(length({{"from", 140}}) == 10);
  CHECK(length({{"from", 149}, {"rate", 2}}) == 1);
  CHECK(length({{"loop", true}}) == 100);
  CHECK(length({{"from", 1000}}) == 100);  // the run is refused
  const auto result = replay(trace, {{"most", 20}}, 30).result;
  CHECK(result.status == Status::failed);
  CHECK_THAT(result.reason, Catch::Contains("20 queries were asked, expected 30 or more"));
}

TEST_CASE("a recorded query that is due after centuries is not asked") {
  const TraceFile times("0\n1\n2\n");
  CHECK(replay(times, {{"rate", 1e-11}}, 3).asked.size() == 1);
}

TEST_CASE("a clockwork answers recorded requests by its times and their lengths") {
  const TraceFile trace(kBlocks);
  const auto predictor = std::dynamic_pointer_cast<TextPredictor>(
      open_predictor("clockwork:first=0.004:gap=0.001", {.model = "clockwork", .network = ""}));
  NumberedPrompts prompts;
  const auto system = predictor->system(prompts);
  const auto result = scenarios()
                          .at("recorded")
                          .make({{"file", trace.path}, {"block", 4}, {"speed", 4}})
                          ->run(*system, {.least_queries = 6});
  REQUIRE(result.queries.size() == 6);
  const std::vector<std::int64_t> ms{0, 0, 250, 251, 800, 900}, tokens{3, 5, 2, 7, 1, 1};
  for (std::size_t i = 0; i < 6; ++i) {
    const QueryRecord& query = result.queries[i];
    CAPTURE(i, result.reason);
    CHECK(query.status == Status::passed);
    CHECK(std::abs(query.scheduled - result.queries[0].scheduled - ms[i] * 250'000) <= 1);
    CHECK(query.issued >= query.scheduled);
    CHECK(query.tokens == tokens[i]);
    CHECK(query.first >= query.issued + 4'000'000);
    CHECK(query.ended >= query.issued + 4'000'000 + (tokens[i] - 1) * 1'000'000);
  }
}
