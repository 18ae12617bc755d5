// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "d5/serving/generators/text_models.hpp"
#include "evaluation/generation/generator_line.hpp"
#include "serving/generators/text_model.hpp"
#include "tests/evaluation/generation/vivid_decoder.hpp"
#include "tests/serving/asked_server.hpp"

namespace d5::testing {

/// Bytes, and the special tokens of ChatML as ids 256 and 257.
inline std::shared_ptr<const Tokenizer> chatml_bytes() {
  return tokenizers().at("bytes").make({{"special", "<|im_start|>,<|im_end|>"}});
}

/// A server with a clockwork, and with the model "vivid": a small decoder of bytes.
class ServedGenerators {
 public:
  explicit ServedGenerators(const std::string& clockwork = "clockwork:first=0.002:gap=0.001",
                            std::int64_t waiting = 64, std::optional<std::string> tokens = {})
      : asked(std::move(tokens)),
        models_(std::make_shared<TextModels>(TextModelOptions{.waiting = waiting})) {
    (void)models_->add(clockwork);
    auto tokenizer = tokenizers().at("bytes").make();
    auto generator = std::make_shared<NetworkGenerator>(make_executor(test::vivid_decoder(2)),
                                                        tokenizer, vivid_options());
    (void)models_->add(std::make_shared<detail::TextModel>(detail::TextModel{
        .name = "vivid",
        .tokenizer = tokenizer,
        .chat = fitting_chat_template(tokenizer),
        .end_tokens = {},
        .engine =
            std::make_unique<detail::GeneratorLine>(std::move(generator), std::size_t(waiting))}));
    asked.server.context().set_generators(models_);
  }
  static NetworkGenerator::Options vivid_options() { return {.piece = 8}; }

  HttpAnswer complete(const nlohmann::json& body) {
    return asked.ask("POST", "/v1/completions", body.dump());
  }
  HttpAnswer chat(const nlohmann::json& body) {
    return asked.ask("POST", "/v1/chat/completions", body.dump());
  }

  AskedServer asked;

 private:
  std::shared_ptr<TextModels> models_;
};

/// The events of a stream, without [DONE], which it must end with if `is_whole`.
inline std::vector<nlohmann::json> events_in(const HttpAnswer& answer, bool is_whole = true) {
  std::string text;  // the chunks, joined
  for (std::size_t at = 0; at < answer.body.size();) {
    const std::size_t line = answer.body.find("\r\n", at);
    const std::size_t size = std::stoul(answer.body.substr(at, line - at), nullptr, 16);
    text += answer.body.substr(line + 2, size);
    at = line + 2 + size + 2;
  }
  std::vector<nlohmann::json> events;
  bool is_done = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find("\n\n", at);
    REQUIRE(text.substr(at, 6) == "data: ");
    const std::string data = text.substr(at + 6, end - at - 6);
    CHECK_FALSE(is_done);
    is_done = data == "[DONE]";
    if (!is_done) events.push_back(nlohmann::json::parse(data));
    at = end + 2;
  }
  CHECK(is_done == is_whole);
  return events;
}

}  // namespace d5::testing
