// SPDX-License-Identifier: Apache-2.0
// Exported decoders generate what ONNX Runtime does, token after token in runs over the whole text.
#include <catch2/catch.hpp>

#include "d5/evaluation/generation/network_generator.hpp"
#include "tests/level1_network/exported_decoders.hpp"

using namespace d5;

TEST_CASE("an exported decoder with its caches as state generates ONNX Runtime's tokens") {
  for (const auto& decoder : test::exported_decoders().forms()) {
    CAPTURE(decoder.name);
    NetworkGenerator generator(make_executor(test::stateful(decoder.file, "slots=2:capacity=24")),
                               nullptr, {.piece = 4});
    CHECK(generator.slots() == 2);
    CHECK(generator.capacity() == 20);
    const auto prompt = std::span(decoder.tokens).first(5);
    const std::size_t slot =
        generator.admit(prompt, {.most_tokens = std::int64_t(decoder.greedy.size())}, {});
    (void)generator.admit(prompt.first(2), {.most_tokens = 3}, {});
    std::vector<TokenId> answer;
    while (generator.active() > 0) {
      for (const GeneratedToken& next : generator.step()) {
        if (next.slot == slot) answer.push_back(next.token);
      }
    }
    CHECK(answer == decoder.greedy);
  }
}
