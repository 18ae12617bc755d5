// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/serving/generators/text_models.hpp"

namespace CLI {
class App;
}

namespace d5::app {

/// The language models that a server generates text with, and how.
struct GeneratorServing {
  std::vector<std::string> generators;
  TextModelOptions models;

  void declare(OptionList& options);
};

void add_generator_options(CLI::App& command, GeneratorServing& serving);
/// The named models, open, in `framework`; null without any.
[[nodiscard]] std::shared_ptr<TextModels> open_generators(const GeneratorServing& serving,
                                                          const std::string& framework);

}  // namespace d5::app
