// SPDX-License-Identifier: Apache-2.0
// Text generation: a prompt goes on, token by token, and the reference judges every token.
//
//   example_119_generate [FILE.gguf [PROMPT]]
//
// Without a file it is a small decoder with random weights, whose tokens are bytes.
#include <iostream>

#include "d5/d5.hpp"

namespace {

d5::LanguageModel random_model() {
  d5::LanguageModel model{.network = d5::models().at("decoder").make(
                              {{"layers", 2}, {"width", 64}, {"vocabulary", 256}, {"seed", 1}}),
                          .tokenizer = d5::tokenizers().at("bytes").make({})};
  return model;
}

}  // namespace

int main(int argc, char** argv) try {
  using namespace d5;
  const std::string prompt = argc > 2 ? argv[2] : "The capital of France is";
  const LanguageModel model = argc > 1 ? open_gguf(argv[1]) : random_model();
  const std::vector<TokenId> tokens = model.tokenizer->encode(prompt);

  NetworkGenerator generator(make_executor(model.network.copy()), model.tokenizer);
  (void)generator.admit(tokens, {.most_tokens = 24, .stop_tokens = model.end_tokens}, {});
  std::vector<TokenId> answer;
  DecodedStream text(model.tokenizer);
  std::cout << prompt;
  while (generator.active() > 0) {
    for (const GeneratedToken& next : generator.step()) {
      answer.push_back(next.token);
      if (argc > 1) std::cout << text.next(next.token) << std::flush;
    }
  }
  std::cout << '\n';

  const AnswerRegret regret = RegretJudge(model.network).judge(tokens, answer);
  std::cout << answer.size() << " tokens, " << regret.loss << " nats a token\n"
            << regret.summary() << '\n';
  return regret.verdict() == RegretVerdict::right ? 0 : 1;
} catch (const d5::Error& error) {
  std::cerr << "error: " << error.what() << '\n';
  return 2;
}
