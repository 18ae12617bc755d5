// SPDX-License-Identifier: Apache-2.0
#include "apps/serving/generator_options.hpp"

#include "apps/declared_options.hpp"

namespace d5::app {

void GeneratorServing::declare(OptionList& options) {
  options
      .add("generators", generators,
           "language models to generate text with: manifests of generators, or "
           "clockwork[:OPTION=VALUE]..., whose times are known",
           {.placeholder = "NAME"})
      .flag = "generator";
  options.add("slots", models.slots, "texts that a language model continues at once",
              {.least = 1, .most = 1024});
  options.add("capacity", models.capacity,
              "tokens that a slot holds, those of prompt and answer together",
              {.least = 32, .most = 1 << 20});
  options.add("waiting", models.waiting,
              "requests that wait for a slot; further ones get 429, Too Many Requests",
              {.least = 0, .most = 1 << 20});
  options.add("chat_template", models.chat_template,
              "template of chats ('d5 list chat-templates'); by default the manifest's, or the "
              "first that fits the tokenizer",
              {.placeholder = "NAME"});
}

void add_generator_options(CLI::App& command, GeneratorServing& serving) {
  add_declared_options(command, serving, "Generating text (OpenAI's interface)");
}

std::shared_ptr<TextModels> open_generators(const GeneratorServing& serving,
                                            const std::string& framework) {
  if (serving.generators.empty()) return nullptr;
  TextModelOptions options = serving.models;
  options.framework = framework;
  auto models = std::make_shared<TextModels>(std::move(options));
  for (const std::string& word : serving.generators) (void)models->add(word);
  return models;
}

}  // namespace d5::app
