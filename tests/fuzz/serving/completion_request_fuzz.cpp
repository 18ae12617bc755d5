// SPDX-License-Identifier: Apache-2.0
// Requests of OpenAI's interface. What is taken keeps its limits, and a refusal has
// the interface's form. A case is "chat" or "text", a line's end, and the body.
#include <nlohmann/json.hpp>

#include "d5/core/errors/error.hpp"
#include "fuzz/fuzzer.hpp"
#include "fuzz/json_damage.hpp"
#include "fuzz/mutation.hpp"
#include "serving/generators/asked_completion.hpp"
#include "serving/generators/completion_fault.hpp"

namespace d5::fuzz {
namespace {

using d5::detail::AskedCompletion;
using d5::detail::CompletionForm;

const TextModels& models() {
  static TextModels models;
  static const std::string name = models.add("clockwork");
  return models;
}

const std::vector<std::string> kSound = {
    R"(text
{"model": "clockwork", "prompt": "Hello", "max_tokens": 5, "temperature": 0.5, "top_p": 0.9,
 "seed": -3, "stream": true, "stream_options": {"include_usage": true}, "ignore_eos": true,
 "n": 1, "stop": ["a", "b"], "min_tokens": 2, "top_k": 4, "min_p": 0.1, "logit_bias": {}})",
    R"(text
{"model": "clockwork", "prompt": [[1, 2, 3]], "echo": false, "suffix": null, "best_of": 1})",
    R"(chat
{"model": "clockwork", "messages": [{"role": "system", "content": "a"},
 {"role": "user", "content": [{"type": "text", "text": "<|end|> tick"}]}], "tools": [],
 "max_completion_tokens": 3, "response_format": {"type": "text"}})"};

bool fits(const AskedCompletion& asked) {
  const auto& [prompt, limits, sampling] = asked.request;
  expect_valid(sampling);
  const std::int64_t vocabulary = asked.model->tokenizer->vocabulary_size();
  for (const TokenId id : prompt) {
    if (id < 0 || id >= vocabulary) return false;
  }
  return !prompt.empty() && limits.most_tokens >= 1 && limits.least_tokens >= 0 &&
         limits.least_tokens <= limits.most_tokens &&
         std::int64_t(prompt.size()) <= asked.model->engine->capacity();
}

}  // namespace

std::string name() { return "completion_request"; }

void prepare() { (void)models(); }

std::string make_case(RandomStream& random) {
  const std::string& sound = pick(random, kSound);
  const std::size_t line = sound.find('\n') + 1;
  std::string body = with_other_values(sound.substr(line), random);
  if (one_in(random, 5)) body = with_damage(body, random);  // the last: it may be no JSON then
  return sound.substr(0, line) + body;
}

std::string run_case(const std::string& bytes) {
  const std::size_t line = std::min(bytes.find('\n'), bytes.size());
  const auto form = bytes.starts_with("chat") ? CompletionForm::chat : CompletionForm::text;
  const std::string body = bytes.substr(std::min(line + 1, bytes.size()));
  try {
    return fits(d5::detail::read_completion(body, form, models())) ? "" : "it does not fit";
  } catch (const d5::detail::CompletionFault& fault) {
    const auto told = nlohmann::json::parse(d5::detail::openai_error_text(fault));
    return told.at("error").at("message").get<std::string>().empty() ? "no words" : "";
  }
}

}  // namespace d5::fuzz
