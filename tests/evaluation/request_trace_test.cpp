// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/load/request_trace.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using d5::testing::TemporaryFolder;

namespace {

const std::string kAzure =
    "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
    "2023-11-16 23:59:59.6805900,374,44\r\n"
    "2023-11-16 23:59:59.6805900,0,7\r\n"
    "2023-11-17 00:00:01.0805900,879,55\r\n"
    "2023-11-17 01:00:01.1805900+01:00,91,1\r\n";
const std::string kBurstgpt =
    "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
    "19440110.0,,0.0,ChatGPT,472,18,490,API log\n"
    "19440112.5,a-b,3.25,GPT-4,1087,0,1087,Conversation log\n"
    "19440114.0,a-b,3.25,GPT-4,417,276,693,Conversation log\n";
const std::string kMooncake =
    R"({"timestamp": 27482, "input_length": 1500, "output_length": 52, "hash_ids": [46, 47, 48]})"
    "\n"
    R"({"timestamp": 30535, "input_length": 1024, "output_length": 26, "hash_ids": [46, 47]})"
    "\n\n"
    R"({"timestamp": 30535.5, "input_length": 40, "output_length": 3, "chat": null})"
    "\n";

/// Options of a file with this text.
RecordingOptions traced(const TemporaryFolder& folder, const std::string& text,
                        RecordingOptions options = {}) {
  options.file = folder / "trace";
  std::ofstream(options.file, std::ios::binary) << text;
  return options;
}

struct Lengths {
  double at;
  std::int64_t line, prompt, answer;
  bool operator==(const Lengths&) const = default;
};
std::vector<Lengths> lengths_of(const RequestTrace& trace) {
  std::vector<Lengths> lengths;
  for (const TracedRequest& one : trace.requests) {
    lengths.push_back({one.at, one.line, one.prompt_tokens, one.answer_tokens});
  }
  return lengths;
}

std::vector<std::uint64_t> ids(const RequestTrace& trace, std::size_t request) {
  const auto span = trace.blocks_of(trace.requests[request]);
  return {span.begin(), span.end()};
}

/// The message with which a trace is refused.
std::string refusal(const std::string& text, const RecordingOptions& options = {}) {
  const TemporaryFolder folder;
  try {
    (void)read_trace(traced(folder, text, options));
  } catch (const Error& error) {
    const std::string words = error.what();
    const auto name = words.find("/trace");
    return name == std::string::npos ? words : words.substr(name + 1);
  }
  return "nothing is wrong";
}

}  // namespace

TEST_CASE("a trace's first line says its format, and its requests have their times and lengths") {
  const TemporaryFolder folder;
  const auto azure = read_trace(traced(folder, kAzure));
  CHECK(azure.format == "azure");
  CHECK(azure.left_out == 1);
  CHECK(lengths_of(azure) ==
        std::vector<Lengths>{{0, 2, 374, 44}, {1.4, 4, 879, 55}, {1.5, 5, 91, 1}});
  const auto burstgpt = read_trace(traced(folder, kBurstgpt));
  CHECK(burstgpt.format == "burstgpt");
  CHECK(burstgpt.left_out == 1);  // it failed
  CHECK(lengths_of(burstgpt) == std::vector<Lengths>{{0, 2, 472, 18}, {4, 4, 417, 276}});
  const auto short_header = read_trace(
      traced(folder,
             "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,\"A\",7,2,9,"
             "x\n"));
  CHECK(lengths_of(short_header) == std::vector<Lengths>{{0, 2, 7, 2}});
  const auto mooncake = read_trace(traced(folder, kMooncake));
  CHECK(mooncake.format == "mooncake");
  REQUIRE(mooncake.requests.size() == 3);
  CHECK(mooncake.requests[1].at == Approx(3.053));
  CHECK(mooncake.requests[2].at == Approx(3.0535));
  CHECK(mooncake.requests[2].line == 4);
  CHECK(mooncake.requests[0].prompt_tokens == 1500);
  CHECK(mooncake.requests[0].answer_tokens == 52);
  CHECK(ids(mooncake, 0) == std::vector<std::uint64_t>{46, 47, 48});
  CHECK(ids(mooncake, 1) == std::vector<std::uint64_t>{46, 47});
  CHECK(ids(mooncake, 2).empty());
  const auto times = read_trace(traced(folder, "\xEF\xBB\xBFseconds\n3\n4.5,x\n"));
  CHECK_FALSE(times.has_lengths());
  CHECK(lengths_of(times) == std::vector<Lengths>{{0, 2, 0, 0}, {1.5, 3, 0, 0}});
}

TEST_CASE("traces are read in the forms in which they are published") {
  const TemporaryFolder folder;
  const auto azure = [&](const std::string& lines) {
    return lengths_of(
        read_trace(traced(folder, "TIMESTAMP,ContextTokens,GeneratedTokens\r\n" + lines)));
  };
  // 2023, with seven digits and CRLF; 2024, with microseconds and a zone.
  CHECK(azure("2023-11-16 18:15:46.6805900,374,44\r\n2023-11-16 18:15:50.9951690,396,109\r\n") ==
        std::vector<Lengths>{{0, 2, 374, 44}, {4.3145790, 3, 396, 109}});
  CHECK(azure("2024-05-10 00:00:00.009930+00:00,2162,5\r\n"
              "2024-05-10 00:00:00.017335+00:00,2399,6\r\n") ==
        std::vector<Lengths>{{0, 2, 2162, 5}, {0.007405, 3, 2399, 6}});
  // Release 2.0: moments far from 0, no id in calls of the interface, failures with 0 tokens.
  const auto burstgpt = read_trace(
      traced(folder,
             "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,"
             "Log Type\n"
             "19440110.0,1722ac82-0a46-4bf0-aa08-89794e7a2b3f,43,GPT-4,906,446,1352,Conversation "
             "log\n"
             "19440161.0,d5983bf9-4b48-497b-892b-a58995247443,2,ChatGPT,36,29,65,Conversation log\n"
             "19440161.0,,0,ChatGPT,1779,0,1779,API log\n"
             "19440254.0,,3,ChatGPT,935,178,1113,API log\n"));
  CHECK(burstgpt.left_out == 1);
  CHECK(lengths_of(burstgpt) ==
        std::vector<Lengths>{{0, 2, 906, 446}, {51, 3, 36, 29}, {144, 5, 935, 178}});
  // Release 1.1.
  CHECK(lengths_of(read_trace(
            traced(folder,
                   "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
                   "5,ChatGPT,472,18,490,Conversation log\n"
                   "45,ChatGPT,1087,230,1317,Conversation log\n"))) ==
        std::vector<Lengths>{{0, 2, 472, 18}, {40, 3, 1087, 230}});
  const auto mooncake = read_trace(traced(
      folder,
      R"({"timestamp": 0, "input_length": 6758, "output_length": 500, "hash_ids": )"
      "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]}\n"
      R"({"timestamp": 3000, "input_length": 1030, "output_length": 490, "hash_ids": [0, 14, 15]})"));
  CHECK(lengths_of(mooncake) == std::vector<Lengths>{{0, 1, 6758, 500}, {3, 2, 1030, 490}});
  CHECK(ids(mooncake, 1) == std::vector<std::uint64_t>{0, 14, 15});
}

TEST_CASE("a part of a trace is replayed, at a rate of its own") {
  const TemporaryFolder folder;
  std::string text = "Timestamp,Request tokens,Response tokens\n";
  for (int i = 0; i < 10; ++i) text += std::to_string(100 + i * i) + ",5,6\n";
  const auto times = [&](const RecordingOptions& options) {
    std::vector<double> times;
    for (const auto& one : read_trace(traced(folder, text, options)).requests) {
      times.push_back(one.at);
    }
    return times;
  };
  using Times = std::vector<double>;
  CHECK(times({.from = 9, .to = 36}) == Times{0, 7, 16});
  CHECK(times({.from = 10, .to = 36}) == Times{6, 15});
  CHECK(times({.most = 3}) == Times{0, 1, 4});
  CHECK(times({.rate = 0.25, .most = 3}) == Times{0, 2, 8});  // two gaps in 8 s
  CHECK(times({.speed = 2, .most = 3}) == Times{0, 0.5, 2});
  const auto all = times({.rate = 3});
  CHECK(all.back() == Approx(9 / 3.0));
  const auto stream = recorded_arrivals(traced(folder, text, {.loop = true, .most = 3}));
  for (const double moment : {0.0, 1.0, 4.0, 6.0, 7.0, 10.0, 12.0})
    CHECK(*stream->next() == moment);
  // What is behind the part is not read.
  CHECK(read_trace(traced(folder, text + "never,a,b\n", {.most = 10})).requests.size() == 10);
}

TEST_CASE("blocks of a trace are whole, with or without a shorter last one") {
  const auto line = [](int tokens, const std::string& ids) {
    return "{\"timestamp\": 0, \"input_length\": " + std::to_string(tokens) +
           ", \"output_length\": 1, \"hash_ids\": [" + ids + "]}\n";
  };
  const RecordingOptions small{.block = 16};
  CHECK(refusal(line(33, "1,2,3"), small) == "nothing is wrong");
  CHECK(refusal(line(33, "1,2"), small) == "nothing is wrong");
  CHECK(refusal(line(32, "1,2"), small) == "nothing is wrong");
  CHECK(refusal(line(33, ""), small) == "nothing is wrong");
  CHECK_THAT(refusal(line(32, "1,2,3"), small),
             Catch::Contains("has 3 ids, but 32 tokens are 2 blocks of 16; set 'block'"));
  CHECK_THAT(refusal(line(6955, "1,2")), Catch::Contains("6955 tokens are 14 blocks of 512"));
}

TEST_CASE("a bad trace is refused with file, line and column, and a way out") {
  const std::string azure = "TIMESTAMP,ContextTokens,GeneratedTokens\n";
  const std::string burst = "Timestamp,Request tokens,Response tokens\n";
  const auto line = [](const std::string& members) { return "{" + members + "}\n"; };
  const std::string good = R"("timestamp": 1, "input_length": 2, "output_length": 3)";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "trace: has no moments"},
      {azure, "trace: has no moments"},
      {azure + "2023-11-16 18:15:46,-4,7\n", "trace:2:21: ContextTokens is '-4', expected a whole"},
      {azure + "2023-11-16 18:15:46,4,nan\n", "trace:2:23: GeneratedTokens is 'nan'"},
      {azure + "2023-11-16 18:15:46,4.5,1\n", "trace:2:21: ContextTokens is '4.5'"},
      {azure + "2023-11-16 18:15:46,1e300,1\n", "from 0 to 10000000"},
      {azure + "2023-11-16 18:15:46, ,1\n", "trace:2:22: ContextTokens is ''"},
      {azure + "2023-11-16 18:15:46,4\n", "trace:2:1: 2 columns, expected 3"},
      {azure + "2023-11-31 18:15:46,4,1\n", "trace:2:1: TIMESTAMP is '2023-11-31 18:15:46'"},
      {azure + "2023-11-16 24:15:46,4,1\n", "expected a time as 2023-11-16"},
      {azure + "2023-11-16 18:15:46.,4,1\n", "expected a time"},
      {azure + "2023-11-16 18:15:46+1,4,1\n", "expected a time"},
      {azure + "5.25,4,1\n", "expected a time"},
      {azure + "2023-11-16 18:15:46,4,1\n2023-11-16 18:15:45,4,1\n",
       "trace:3:1: 2023-11-16 18:15:45 comes after 2023-11-16 18:15:46; expected ascending "
       "moments: sort"},
      {burst + "5,7,8\n4.5,7,8\n", "trace:3:1: 4.5 comes after 5"},
      {burst + "-5,7,8\n", "trace:2:1: Timestamp is '-5', expected seconds from 0"},
      {burst + "inf,7,8\n", "trace:2:1: Timestamp is 'inf'"},
      {burst + "1e300,7,8\n", "trace:2:1: Timestamp is '1e300'"},
      {burst + "5,7,8,9\n", "trace:2:1: 4 columns, expected 3"},
      {burst + "5,0,8\n", "nothing from 0 s on but 1 requests without a prompt or an answer"},
      {"{\n\"timestamp\": 1,\n", "trace:1:2: no JSON, expected an object a line"},
      {line(good) + "{\"timestamp\": }\n", "trace:2:15: no JSON"},
      {line(good) + "[1]\n", "trace:2:1: expected an object a line"},
      {line(R"("input_length": 2, "output_length": 3)"), "trace:1:1: there is no 'timestamp'"},
      {line(R"("timestamp": "1", "input_length": 2, "output_length": 3)"),
       "trace:1:2: 'timestamp' is \"1\", expected a number"},
      {line(R"("timestamp": 1, "input_length": -2, "output_length": 3)"),
       "trace:1:18: 'input_length' is -2, expected a whole number"},
      {line(R"("timestamp": 1, "input_length": 2, "output_length": 1e8)"),
       "trace:1:37: 'output_length' is 100000000"},
      {line(R"("timestamp": 1e999, "input_length": 2, "output_length": 3)"), "trace:1:"},
      {line(R"("timestamp": NaN, "input_length": 2, "output_length": 3)"), "trace:1:15: no JSON"},
      {line(good + R"(, "hash_ids": 7)"), "'hash_ids' is no list"},
      {line(good + R"(, "hash_ids": [-1])"), "'hash_ids' has -1, expected whole numbers"},
      {line(good + R"(, "hash_ids": [1.5])"), "'hash_ids' has 1.5"},
      {line(good + ", \"x\": " + std::string(200, '[')), "deeper than 100 levels"},
      {line(good) + line(R"("timestamp": 0.5, "input_length": 2, "output_length": 3)"),
       "trace:2:2: 0.5 ms comes after 1 ms"},
      // Without a header a trace is a file of times.
      {"2023-11-16 18:15:46,4,1\n2023-11-16 18:15:47,4,1\n",
       "trace:2:1: '2023-11-16 18:15:47,4,1' does not begin with a number of seconds; a trace with "
       "lengths has a header, as TIMESTAMP,ContextTokens,GeneratedTokens"}};
  for (const auto& [text, words] : cases) {
    CAPTURE(text);
    CHECK_THAT(refusal(text), Catch::Contains(words));
  }
  CHECK_THAT(refusal(burst + std::string((1 << 24) + 1, '1')),
             Catch::Contains("trace:2: the line is longer than 16 MB"));
  CHECK_THAT(refusal(kBurstgpt, {.speed = 2, .rate = 1}), Catch::Contains("expected one of them"));
  CHECK_THAT(refusal(burst + "5,7,8\n5,7,8\n", {.rate = 1}), Catch::Contains("has no rate"));
  CHECK_THAT(refusal(burst + "5,7,8\n", {.loop = true}), Catch::Contains("cannot be looped"));
  CHECK_THAT(refusal(burst + "5,7,8\n", {.rate = -1}), Catch::Contains("rate is -1"));
  CHECK_THAT(refusal(burst + "5,7,8\n", {.block = 0}), Catch::Contains("1 token or more"));
  const TemporaryFolder folder;
  CHECK_THROWS_AS(read_trace({.file = folder / "nowhere"}), IoError);
  CHECK_THROWS_AS(read_trace({.file = folder.path().string()}), IoError);
}

TEST_CASE("damaged lines are refused, or are requests within all bounds") {
  RandomStream random(54);
  int refused = 0, read = 0;
  for (int round = 0; round < 1500; ++round) {
    const std::string* whole[] = {&kAzure, &kBurstgpt, &kMooncake};
    std::string text = *whole[round % 3];
    for (auto changes = 1 + random.below(3); changes > 0; --changes) {
      const auto place = std::size_t(random.below(text.size()));
      switch (random.below(4)) {
        case 0:
          text[place] = char(random.below(256));
          break;
        case 1:
          text.erase(place, 1 + random.below(9));
          break;
        case 2:
          text.insert(place, 1, "0123456789-,.\"{}[]\n e"[random.below(21)]);
          break;
        default:
          text.insert(place, text.substr(place / 2, random.below(30)));
      }
      if (text.empty()) text = "0";
    }
    CAPTURE(round, text);
    const TemporaryFolder folder;
    RequestTrace trace;
    try {
      trace = read_trace(traced(folder, text));
    } catch (const Error& error) {  // no other exception
      CHECK_THAT(error.what(), Catch::Contains("trace"));
      ++refused;
      continue;
    }
    ++read;
    double last = 0;
    std::size_t blocks = 0;
    for (const TracedRequest& one : trace.requests) {
      CHECK((std::isfinite(one.at) && one.at >= last));
      last = one.at;
      if (!trace.has_lengths()) continue;
      CHECK((one.prompt_tokens >= 1 && one.prompt_tokens <= 10'000'000));
      CHECK((one.answer_tokens >= 1 && one.answer_tokens <= 10'000'000));
      CHECK(std::int64_t(one.blocks) <= (one.prompt_tokens + 511) / 512);
      CHECK(one.first_block == blocks);
      blocks += one.blocks;
    }
    CHECK(blocks == trace.blocks.size());
  }
  CHECK(refused > 300);
  CHECK(read > 150);
}
