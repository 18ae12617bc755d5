// SPDX-License-Identifier: Apache-2.0
// Recordings of arrivals and traces of requests: refused, or moments from 0 on, each not before the
// last, also when they begin again, and lengths within bounds.
#include <cmath>
#include <fstream>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/load/request_trace.hpp"
#include "fuzz/fuzzer.hpp"
#include "fuzz/mutation.hpp"
#include "temporary_folder.hpp"

namespace d5::fuzz {

std::string name() { return "arrivals"; }

void prepare() {}

std::string make_case(RandomStream& random) {
  static const std::vector<std::string> kinds{
      "seconds,what\n0.5,a\n0.5\n1.25 x\r\n2e0,b\n\n1e3\n1700000000.123456\n",
      "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\n"
      "2024-05-10 00:00:00.009930+00:00,2162,5\r\n",
      "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type"
      "\n5,,0.5,ChatGPT,472,18,490,API log\n45.25,u-1,3.0,GPT-4,1087,0,1087,Conversation log\n"
      "118,u-1,3.0,GPT-4,417,276,693,Conversation log\n",
      "{\"timestamp\": 0, \"input_length\": 1500, \"output_length\": 5, \"hash_ids\": [0, 1, 2]}\n"
      "{\"timestamp\": 3052, \"input_length\": 513, \"output_length\": 7, \"hash_ids\": [0, 3]}\n"};
  std::string text = pick(random, kinds);
  for (auto changes = 1 + random.below(3); changes > 0; --changes) {
    text = one_in(random, 2) ? with_damage(text, random) : with_other_number(text, random);
  }
  return text;
}

std::string run_case(const std::string& text) {
  const testing::TemporaryFolder folder;
  std::ofstream(folder / "case.csv") << text;  // write_file waits for the disk
  const RequestTrace trace = read_trace({.file = folder / "case.csv"});
  for (const TracedRequest& request : trace.requests) {
    const bool fits = request.prompt_tokens > 0 && request.prompt_tokens <= 10'000'000 &&
                      request.answer_tokens > 0 && request.answer_tokens <= 10'000'000 &&
                      trace.blocks_of(request).size() <= std::size_t(request.prompt_tokens);
    if (trace.has_lengths() && !fits) return "a length is out of bounds";
  }
  for (const bool loop : {false, true}) {
    for (const double speed : {1.0, 0.001, 3.0}) {
      const auto arrivals =
          recorded_arrivals({.file = folder / "case.csv", .speed = speed, .loop = loop});
      double last = 0;
      for (int i = 0; i < 50; ++i) {
        const auto moment = arrivals->next();
        if (!moment) break;
        if (!std::isfinite(*moment) || *moment < last) return "a moment is none, or before another";
        last = *moment;
      }
    }
  }
  return {};
}

}  // namespace d5::fuzz
